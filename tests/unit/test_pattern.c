/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "comm_text.h"
#include "signature/signature.h"

#define HEAD "{\"format\":\"commplace-signature\",\"version\":1,\"ranks\":"

static struct cpl_signature *parse(const char *text, struct cpl_error *err)
{
	return cpl_signature_parse(text, strlen(text), "x.json", err);
}

static void test_patterns(void **state)
{
	static const struct {
		int ranks;
		const char *pattern, *want;
	} row[] = {
	        {4,
	         "\"type\":\"stencil\",\"dims\":[4],\"points\":3,"
	         "\"bytes\":8",
	         "0>1:8/1 1>0:8/1 1>2:8/1 2>1:8/1 2>3:8/1 3>2:8/1 "},
	        {4,
	         "\"type\":\"stencil\",\"dims\":[4],\"points\":3,"
	         "\"bytes\":8,\"periodic\":true",
	         "0>1:8/1 0>3:8/1 1>0:8/1 1>2:8/1 2>1:8/1 2>3:8/1 3>0:8/1 "
	         "3>2:8/1 "},
	        /* Both ways round an axis of two lead to the same rank. */
	        {2,
	         "\"type\":\"stencil\",\"dims\":[2,1],\"points\":5,"
	         "\"bytes\":8,\"periodic\":true",
	         "0>1:16/2 1>0:16/2 "},
	        /* The last dimension is the fastest. */
	        {6,
	         "\"type\":\"stencil\",\"dims\":[2,3],\"points\":9,"
	         "\"bytes\":[8,1,0]",
	         "0>1:8/1 0>3:8/1 0>4:1/1 1>0:8/1 1>2:8/1 1>3:1/1 1>4:8/1 "
	         "1>5:1/1 2>1:8/1 2>4:1/1 2>5:8/1 3>0:8/1 3>1:1/1 3>4:8/1 "
	         "4>0:1/1 4>1:8/1 4>2:1/1 4>3:8/1 4>5:8/1 5>1:1/1 5>2:8/1 "
	         "5>4:8/1 "},
	        {6,
	         "\"type\":\"many-to-many\",\"dims\":[3,2],\"axis\":0,"
	         "\"bytes\":5",
	         "0>2:5/1 0>4:5/1 1>3:5/1 1>5:5/1 2>0:5/1 2>4:5/1 3>1:5/1 "
	         "3>5:5/1 4>0:5/1 4>2:5/1 5>1:5/1 5>3:5/1 "},
	        /* Worked out by hand: an activation has 8 bytes, a layer 74
	         * parameters. */
	        {2,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"tp\":2,\"layers\":1",
	         "0>1:32/8 1>0:32/8 "},
	        {2,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"dp\":2,\"layers\":1",
	         "0>1:156/2 1>0:156/2 "},
	        {2,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"dp\":2,\"layers\":1,\"gradient_bytes\":4",
	         "0>1:312/2 1>0:312/2 "},
	        {2,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"pp\":2,\"layers\":2,\"vocabulary\":3",
	         "0>1:20/3 1>0:20/3 "},
	        {3,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"pp\":3,\"layers\":3,\"micro_batches\":5",
	         "0>1:40/5 1>0:40/5 1>2:40/5 2>1:40/5 "},
	        {3,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"pp\":3,\"layers\":6,\"chunks\":2",
	         "0>1:16/2 0>2:8/1 1>0:16/2 1>2:16/2 2>0:8/1 2>1:16/2 "},
	        {4,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"tp\":2,\"pp\":2,\"layers\":2,"
	         "\"sequence_parallel\":true",
	         "0>1:32/8 0>2:4/1 1>0:32/8 1>3:4/1 2>0:4/1 2>3:32/8 "
	         "3>1:4/1 3>2:32/8 "},
	        {2,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"dp\":2,\"ep\":2,\"experts\":2,\"top_k\":1,"
	         "\"layers\":1",
	         "0>1:108/6 1>0:108/6 "},
	        {4,
	         "\"type\":\"llm\",\"hidden\":2,\"sequence\":2,"
	         "\"dp\":4,\"ep\":2,\"experts\":2,\"top_k\":1,"
	         "\"layers\":1",
	         "0>1:154/10 0>2:64/2 1>0:16/4 1>2:138/6 1>3:64/2 "
	         "2>0:64/2 2>3:154/10 3>0:138/6 3>1:64/2 3>2:16/4 "},
	        {3,
	         "\"type\":\"permutation\",\"ranks\":3,\"shift\":1,"
	         "\"bytes\":2",
	         "0>1:2/1 1>2:2/1 2>0:2/1 "},
	        {3,
	         "\"type\":\"permutation\",\"ranks\":3,\"shift\":3,"
	         "\"bytes\":2",
	         ""},
	        {3,
	         "\"type\":\"spread\",\"ranks\":3,\"degree\":[9,9],"
	         "\"bytes\":2",
	         "0>1:2/1 0>2:2/1 1>0:2/1 1>2:2/1 2>0:2/1 2>1:2/1 "},
	        {4,
	         "\"type\":\"umesh\",\"ranks\":4,\"degree\":[9,9],"
	         "\"range\":1,\"bytes\":2",
	         "0>1:2/1 1>0:2/1 1>2:2/1 2>1:2/1 2>3:2/1 3>2:2/1 "},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig;
		char text[400];

		snprintf(text, sizeof(text),
		         HEAD "%d,\"phases\":[{\"pattern\":{%s}}]}",
		         row[i].ranks, row[i].pattern);
		sig = parse(text, &err);
		assert_string_equal(err.text, "");
		assert_non_null(sig);
		assert_comm(sig->phase[0].comm, row[i].want);
		cpl_signature_free(sig);
	}
}

static struct cpl_signature *pattern(const char *params, int ranks)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	char text[400];

	snprintf(text, sizeof(text), HEAD "%d,\"phases\":[{\"pattern\":{%s}}]}",
	         ranks, params);
	sig = parse(text, &err);
	assert_string_equal(err.text, "");
	assert_non_null(sig);
	return sig;
}

static void test_stencil_degrees(void **state)
{
	static const struct {
		const char *dims;
		int points, degree;
	} row[] = {
	        {"7", 3, 2},       {"5,4", 5, 4},     {"4,5", 9, 8},
	        {"3,4,5", 7, 6},   {"3,4,5", 15, 14}, {"3,4,5", 27, 26},
	        {"3,4,3,4", 9, 8},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_signature *sig;
		int ranks = 1;
		char text[200];

		for (const char *p = row[i].dims; *p; p += 2) {
			ranks *= *p - '0';
			if (!p[1])
				break;
		}
		snprintf(text, sizeof(text),
		         "\"type\":\"stencil\",\"dims\":[%s],\"points\":%d,"
		         "\"periodic\":true,\"bytes\":1",
		         row[i].dims, row[i].points);
		sig = pattern(text, ranks);
		for (int r = 0; r < ranks; r++)
			assert_int_equal(sig->phase[0].comm->row[r + 1],
			                 (int64_t)(r + 1) * row[i].degree);
		cpl_signature_free(sig);
	}
}

static void test_random_partners(void **state)
{
	enum { RANKS = 500 };
	struct cpl_signature *a = pattern("\"type\":\"umesh\",\"ranks\":500,"
	                                  "\"range\":30,\"degree\":[6,20],"
	                                  "\"bytes\":1,\"seed\":3",
	                                  RANKS);
	struct cpl_signature *b = pattern("\"type\":\"umesh\",\"ranks\":500,"
	                                  "\"range\":30,\"degree\":[6,20],"
	                                  "\"bytes\":1,\"seed\":4",
	                                  RANKS);
	const struct cpl_comm *comm = a->phase[0].comm;
	int seen[21] = {0};

	for (int r = 0; r < RANKS; r++) {
		int64_t degree = comm->row[r + 1] - comm->row[r];

		assert_in_range(degree, 6, 20);
		seen[degree]++;
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			assert_in_range(abs(comm->to[i] - r), 1, 30);
			/* Distinct, or they would have been added up. */
			assert_true(comm->messages[i] == 1.0);
		}
	}
	for (int d = 6; d <= 20; d++)
		assert_true(seen[d] > 0);
	assert_true(comm->n_entries != b->phase[0].comm->n_entries);
	cpl_signature_free(a);
	cpl_signature_free(b);
	a = pattern("\"type\":\"permutation\",\"ranks\":500,\"bytes\":1",
	            RANKS);
	comm = a->phase[0].comm;
	assert_int_equal(comm->n_entries, RANKS);
	/* One cycle through all. */
	for (int r = 0, n = 1; n < RANKS; n++) {
		r = comm->to[r];
		assert_int_not_equal(r, 0);
	}
	cpl_signature_free(a);
}

/* Messages and bytes of the whole run, from the sources' tables (LU.C.64 and
 * BT.C.64 in bytes; messages of all). */
static void test_npb_totals(void **state)
{
	static const struct {
		const char *type, *class;
		int ranks;
		int64_t pairs;
		double messages, bytes; /* bytes 0: not known */
	} row[] = {
	        {"npb-lu", "C", 64, 112, 9052876, 22128532608},
	        {"npb-lu", "C", 256, 480, 38797980, 0},
	        {"npb-lu", "C", 1024, 1984, 160364860, 0},
	        {"npb-lu", "D", 4096, 8064, 1975849596, 0},
	        {"npb-bt", "C", 64, 192, 617856, 51169708800},
	        {"npb-bt", "C", 256, 768, 4941312, 0},
	        {"npb-bt", "C", 1024, 3072, 39524352, 0},
	        {"npb-bt", "D", 4096, 12288, 394813440, 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		double messages = 0.0, bytes = 0.0;
		struct cpl_signature *sig;
		const struct cpl_comm *comm;
		char text[200];

		snprintf(text, sizeof(text),
		         "\"type\":\"%s\",\"class\":\"%s\",\"ranks\":%d",
		         row[i].type, row[i].class, row[i].ranks);
		sig = pattern(text, row[i].ranks);
		comm = sig->phase[0].comm;
		/* Every pair talks both ways. */
		assert_int_equal(comm->n_entries, 2 * row[i].pairs);
		for (int64_t k = 0; k < comm->n_entries; k++) {
			messages += comm->messages[k];
			bytes += comm->bytes[k];
		}
		assert_true(messages == row[i].messages);
		if (row[i].bytes > 0)
			assert_true(bytes == row[i].bytes);
		cpl_signature_free(sig);
	}
}

static void test_collectives(void **state)
{
	static const struct {
		const char *what;
		int ranks;
		const char *want;
	} row[] = {
	        {"\"operation\":\"broadcast\",\"algorithm\":\"binomial\"", 5,
	         "0>1:20/1 0>2:20/1 0>4:20/1 2>3:20/1 "},
	        {"\"operation\":\"broadcast\",\"algorithm\":\"binomial\","
	         "\"root\":2",
	         5, "2>1:20/1 2>3:20/1 2>4:20/1 4>0:20/1 "},
	        {"\"operation\":\"scatter\",\"algorithm\":\"binomial\"", 6,
	         "0>1:20/1 0>2:40/1 0>4:40/1 2>3:20/1 4>5:20/1 "},
	        {"\"operation\":\"gather\",\"algorithm\":\"binomial\"", 6,
	         "1>0:20/1 2>0:40/1 3>2:20/1 4>0:40/1 5>4:20/1 "},
	        {"\"operation\":\"reduce\",\"algorithm\":\"binomial\"", 4,
	         "1>0:20/1 2>0:20/1 3>2:20/1 "},
	        {"\"operation\":\"allgather\",\"algorithm\":\"ring\"", 3,
	         "0>1:40/2 1>2:40/2 2>0:40/2 "},
	        {"\"operation\":\"allgather\",\"algorithm\":"
	         "\"recursive-doubling\"",
	         4,
	         "0>1:20/1 0>2:40/1 1>0:20/1 1>3:40/1 2>0:40/1 2>3:20/1 "
	         "3>1:40/1 3>2:20/1 "},
	        {"\"operation\":\"broadcast\",\"algorithm\":\"van-de-geijn\"",
	         4, "0>1:20/4 0>2:10/1 1>2:15/3 2>3:20/4 3>0:15/3 "},
	        {"\"operation\":\"reduce-scatter\",\"algorithm\":\"pairwise\"",
	         2, "0>1:10/1 1>0:10/1 "},
	        {"\"operation\":\"reduce\",\"algorithm\":\"rabenseifner\"", 2,
	         "0>1:10/1 1>0:20/2 "},
	        {"\"operation\":\"allreduce\",\"algorithm\":\"ring\"", 4,
	         "0>1:30/6 1>2:30/6 2>3:30/6 3>0:30/6 "},
	        {"\"operation\":\"allreduce\",\"algorithm\":"
	         "\"recursive-doubling\"",
	         2, "0>1:20/1 1>0:20/1 "},
	        {"\"operation\":\"allreduce\","
	         "\"algorithm\":\"double-tree\"",
	         4, "0>1:10/1 0>2:10/1 1>0:10/1 1>2:20/2 1>3:10/1 "
	         "2>0:10/1 2>1:20/2 2>3:10/1 3>1:10/1 3>2:10/1 "},
	        {"\"operation\":\"allreduce\","
	         "\"algorithm\":\"double-tree\"",
	         3, "0>1:10/1 0>2:20/2 1>0:10/1 1>2:10/1 2>0:20/2 "
	         "2>1:10/1 "},
	        {"\"operation\":\"allreduce\","
	         "\"algorithm\":\"double-tree\"",
	         1, ""},
	        {"\"operation\":\"allreduce\",\"algorithm\":\"bine\"",
	         4, "0>1:20/2 0>3:10/2 1>0:20/2 1>2:10/2 2>1:10/2 "
	         "2>3:20/2 3>0:10/2 3>2:20/2 "},
	        {"\"operation\":\"alltoall\",\"algorithm\":\"pairwise\"", 2,
	         "0>1:20/1 1>0:20/1 "},
	        {"\"operation\":\"alltoall\",\"algorithm\":\"pairwise\"", 1,
	         ""},
	        /* 3 groups of 2 nodes: link to group 1 on node 1, to 0 and 2 on
	         * node 0. */
	        {"\"operation\":\"scatter\",\"algorithm\":\"two-tier\","
	         "\"dims\":[3,2,1]",
	         6, "0>1:60/2 0>4:40/1 1>2:40/1 2>3:20/1 4>5:20/1 "},
	        {"\"operation\":\"allgather\",\"algorithm\":\"two-tier\","
	         "\"dims\":[3,2,1]",
	         6,
	         "0>1:60/2 0>4:40/1 1>0:60/2 1>2:40/1 2>1:40/1 2>3:100/3 "
	         "2>5:40/1 3>2:20/1 4>0:40/1 4>5:60/2 5>2:40/1 5>4:60/2 "},
	        /* Two shares of 10 bytes. From group 0 node 0 has the link to
	         * group 2, and node 1 that to group 1. */
	        {"\"operation\":\"broadcast\",\"algorithm\":\"two-tier\","
	         "\"dims\":[3,2,1]",
	         6,
	         "0>1:20/2 0>4:10/1 1>0:10/1 1>2:10/1 2>3:20/2 2>5:10/1 "
	         "4>5:10/1 5>2:10/1 5>4:10/1 "},
	        /* One of 20 bytes, by node 1. */
	        {"\"operation\":\"broadcast\",\"algorithm\":\"two-tier\","
	         "\"dims\":[2,2,1]",
	         4, "0>1:20/1 1>0:20/1 1>2:20/1 2>3:20/1 "},
	        {"\"operation\":\"broadcast\",\"algorithm\":\"two-tier\","
	         "\"dims\":[1,2,2]",
	         4, "0>1:20/1 0>2:20/2 2>0:10/1 2>3:20/1 "},
	        {"\"operation\":\"allgather\",\"algorithm\":\"two-tier\","
	         "\"dims\":[1,1,3]",
	         3, "0>1:40/1 0>2:40/1 1>0:20/1 2>0:20/1 "},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_signature *sig;
		char text[300];

		snprintf(text, sizeof(text),
		         "\"type\":\"collective\",%s,\"ranks\":%d,\"bytes\":20",
		         row[i].what, row[i].ranks);
		sig = pattern(text, row[i].ranks);
		assert_comm(sig->phase[0].comm, row[i].want);
		cpl_signature_free(sig);
	}
}

/* Both trees reach all ranks and no rank has much to do; Bine partners meet. */
static void test_all_reduce_graphs(void **state)
{
	static const char *const name[] = {"double-tree", "bine"};

	for (int i = 0; i < 2; i++)
		for (int n = 2; n <= 64; n += i ? n : 1) {
			struct cpl_signature *sig;
			struct cpl_comm *comm;
			double sum = 0;
			char text[200];

			snprintf(text, sizeof(text),
			         "\"type\":\"collective\",\"operation\":"
			         "\"allreduce\",\"algorithm\":\"%s\","
			         "\"ranks\":%d,\"bytes\":64",
			         name[i], n);
			sig = pattern(text, n);
			comm = sig->phase[0].comm;
			for (int r = 0; r < n; r++) {
				double out = 0;

				for (int64_t e = comm->row[r];
				     e < comm->row[r + 1]; e++) {
					out += comm->bytes[e];
					assert_int_not_equal(comm->to[e], r);
				}
				sum += out;
				/* At most three neighbours in a tree. */
				assert_true(out <= (i ? 2 : 3) * 64);
			}
			/* Each edge of two trees both ways, or 2 (n - 1) / n. */
			assert_true(sum == (n - 1) * 128.0);
			cpl_signature_free(sig);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_patterns),
	        cmocka_unit_test(test_stencil_degrees),
	        cmocka_unit_test(test_random_partners),
	        cmocka_unit_test(test_npb_totals),
	        cmocka_unit_test(test_collectives),
	        cmocka_unit_test(test_all_reduce_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
