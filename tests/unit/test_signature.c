/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "base/random.h"
#include "comm_text.h"
#include "graph/comm_gather.h"
#include "signature/import/import.h"
#include "signature/signature.h"

#define HEAD "{\"format\":\"commplace-signature\",\"version\":1,\"ranks\":"

static char dir[] = "/tmp/commplace-signature-XXXXXX";

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir);
}

static struct cpl_signature *parse(const char *text, struct cpl_error *err)
{
	return cpl_signature_parse(text, strlen(text), "x.json", err);
}

static void test_build_sorts_and_merges(void **state)
{
	struct cpl_comm_entry e[] = {{2, 0, 1, 1},  {0, 3, 2, 1},
	                             {0, 1, 4, 1},  {2, 0, 8, 1},
	                             {3, 3, 16, 2}, {0, 3, 32, 3}};
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_comm_build(4, e, 6, &err);

	assert_comm(comm, "0>1:4/1 0>3:34/4 2>0:9/2 3>3:16/2 ");
	cpl_comm_free(comm);
	comm = cpl_comm_build(3, e, 0, &err);
	assert_comm(comm, "");
	cpl_comm_free(comm);
}

/* Long rows take the merge sort; compared with a dense matrix. */
static void test_build_equals_a_dense_sum(void **state)
{
	enum { RANKS = 37, N = 20000 };
	static double bytes[RANKS][RANKS], messages[RANKS][RANKS];
	struct cpl_comm_entry *e = calloc(N, sizeof(*e));
	struct cpl_comm *comm;
	int64_t pairs = 0;

	assert_non_null(e);
	for (uint64_t i = 0; i < N; i++) {
		/* Most in few rows. */
		int from = (int)cpl_random_below(1, 0, i, 4)
		                   ? 5
		                   : (int)cpl_random_below(1, 1, i, RANKS);
		int to = (int)cpl_random_below(1, 2, i, RANKS);

		e[i] = (struct cpl_comm_entry){from, to, (double)i, 1};
		bytes[from][to] += (double)i;
		messages[from][to] += 1;
	}
	comm = cpl_comm_build(RANKS, e, N, NULL);
	assert_non_null(comm);
	for (int r = 0; r < RANKS; r++) {
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			assert_true(i == comm->row[r] ||
			            comm->to[i] > comm->to[i - 1]);
			assert_true(comm->bytes[i] == bytes[r][comm->to[i]]);
			assert_true(comm->messages[i] ==
			            messages[r][comm->to[i]]);
			pairs++;
		}
		for (int t = 0; t < RANKS; t++)
			pairs -= messages[r][t] > 0;
	}
	assert_int_equal(pairs, 0);
	cpl_comm_free(comm);
	free(e);
}

/* Entries that come twice, in rows in order and in any, come to the same as a
 * list of them. */
static void test_gather_equals_build(void **state)
{
	enum { RANKS = 31, N = 4000 };
	static struct cpl_comm_entry e[N];

	for (uint64_t k = 0; k < 4; k++) {
		struct cpl_comm_gather gather;
		struct cpl_comm *a, *b;
		int n = k ? N : 0;

		for (uint64_t i = 0; i < N; i++) {
			int any = (int)cpl_random_below(k, 1, i, RANKS);
			int from = k == 2 ? (int)i / RANKS % RANKS : any / 2;
			int to = k == 2 ? (int)i % RANKS
			                : (int)cpl_random_below(k, 2, i, RANKS);

			/* Sums that depend on their order. */
			e[i] = (struct cpl_comm_entry){from, to,
			                               1.0 / (double)(i + 3), 1};
		}
		n = k == 2 ? RANKS * RANKS : n;
		assert_int_equal(cpl_comm_gather_open(&gather, RANKS, NULL), 0);
		for (int i = 0; i < n; i++)
			cpl_comm_gather(&gather, e[i].from, e[i].to, e[i].bytes);
		assert_int_equal(cpl_comm_gather_counted(&gather, NULL), 0);
		for (int i = 0; i < n; i++)
			cpl_comm_gather(&gather, e[i].from, e[i].to, e[i].bytes);
		a = cpl_comm_gather_end(&gather, NULL);
		cpl_comm_gather_free(&gather);
		b = cpl_comm_build(RANKS, e, n, NULL);
		assert_non_null(a);
		assert_int_equal(a->ranks, b->ranks);
		assert_int_equal(a->n_entries, b->n_entries);
		assert_memory_equal(a->row, b->row,
		                    (RANKS + 1) * sizeof(*a->row));
		for (int64_t i = 0; i < a->n_entries; i++) {
			assert_int_equal(a->to[i], b->to[i]);
			assert_true(a->bytes[i] == b->bytes[i]);
			assert_true(a->messages[i] == b->messages[i]);
		}
		cpl_comm_free(a);
		cpl_comm_free(b);
	}
}

static void test_what_crosses_blocks(void **state)
{
	struct cpl_comm_entry e[] = {{0, 1, 1, 1}, {3, 2, 1, 1}, {4, 4, 1, 1},
	                             {2, 4, 0, 1}};
	struct cpl_comm *comm = cpl_comm_build(5, e, 4, NULL);

	assert_true(cpl_comm_crosses(comm, 1));
	assert_false(cpl_comm_crosses(comm, 2));
	assert_true(cpl_comm_crosses(comm, 3));
	assert_false(cpl_comm_crosses(comm, 4));
	assert_false(cpl_comm_crosses(comm, 5));
	cpl_comm_free(comm);
}

static void test_symmetric_and_subset(void **state)
{
	struct cpl_comm_entry e[] = {{0, 1, 1, 1}, {1, 0, 2, 1}, {1, 1, 9, 9},
	                             {2, 0, 4, 1}, {3, 2, 8, 2}, {1, 3, 16, 1}};
	struct cpl_comm *comm = cpl_comm_build(4, e, 6, NULL), *out;
	int rank[] = {3, 1, 2};

	out = cpl_comm_symmetric(comm, NULL);
	assert_comm(out, "0>1:3/2 0>2:4/1 1>0:3/2 1>3:16/1 2>0:4/1 2>3:8/2 "
	                 "3>1:16/1 3>2:8/2 ");
	cpl_comm_free(out);
	out = cpl_comm_subset(comm, rank, 3, NULL);
	assert_comm(out, "0>2:8/2 1>0:16/1 1>1:9/9 ");
	cpl_comm_free(out);
	cpl_comm_free(comm);
}

static void test_parse_and_total(void **state)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig = parse(
	        HEAD
	        "4,\"name\":\"lj\",\"application\":\"lammps\",\"recorded\":"
	        "{\"tool\":\"t\"},\"phases\":[{\"name\":\"halo\","
	        "\"weight\":2.5,\"time\":0.5,\"compute_time\":0.25,"
	        "\"traffic\":[[0,1,10,1],[3,0,1e3,2],[0,1,6,1]]},"
	        "{\"traffic\":[[1,1,1,1],[0,1,1,1]]}, {\"traffic\" : "
	        "[ ]}]}",
	        &err);
	struct cpl_comm *total;

	assert_non_null(sig);
	assert_string_equal(sig->name, "lj");
	assert_string_equal(sig->application, "lammps");
	assert_string_equal(sig->recorded, "{\"tool\": \"t\"}");
	assert_int_equal(sig->ranks, 4);
	assert_int_equal(sig->n_phases, 3);
	assert_string_equal(sig->phase[0].name, "halo");
	assert_true(sig->phase[0].weight == 2.5);
	assert_true(sig->phase[0].time == 0.5);
	assert_true(sig->phase[0].compute_time == 0.25);
	assert_comm(sig->phase[0].comm, "0>1:16/2 3>0:1000/2 ");
	assert_string_equal(sig->phase[1].name, "phase2");
	assert_true(sig->phase[1].weight == 1.0);
	assert_comm(sig->phase[2].comm, "");
	total = cpl_signature_total(sig, &err);
	assert_comm(total, "0>1:41/6 1>1:1/1 3>0:2500/5 ");
	cpl_comm_free(total);
	cpl_signature_free(sig);
}

static void test_name_of_the_file(void **state)
{
	const char *text = HEAD "1,\"phases\":[{\"traffic\":[]}]}";
	struct cpl_signature *sig =
	        cpl_signature_parse(text, strlen(text), "/a/b/milc.json", NULL);

	assert_non_null(sig);
	assert_string_equal(sig->name, "milc");
	cpl_signature_free(sig);
}

/* The words that traffic is scanned for mean nothing in other places. */
static void test_scan_looks_in_phases_only(void **state)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig = parse(
	        "{\"recorded\":{\"phases\":[{\"traffic\":[[9,9,9,9]]}],"
	        "\"traffic\":[1], \"s\":\"[{\\\"}\"},\"format\":"
	        "\"commplace-signature\",\"version\":1,\"ranks\":2,"
	        "\"phases\":[{\"name\":\"traffic\",\"traffic\":[[0,1,2,3]]}]}",
	        &err);

	assert_string_equal(err.text, "");
	assert_non_null(sig);
	assert_int_equal(sig->n_phases, 1);
	assert_comm(sig->phase[0].comm, "0>1:2/3 ");
	assert_non_null(strstr(sig->recorded, "[9, 9, 9, 9]"));
	cpl_signature_free(sig);
}

/* Keys behind a phase's traffic do not end the search for the next phase's. */
static void test_scan_goes_on_behind_traffic(void **state)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig = parse(
	        HEAD "2,\"phases\":[{\"traffic\":[[0,1,2,3]],\"weight\":2},"
	             "{\"weight\":1,\"traffic\":[[1,0,4,5]],\"name\":\"x\"}]}",
	        &err);

	assert_string_equal(err.text, "");
	assert_int_equal(sig->n_phases, 2);
	assert_comm(sig->phase[0].comm, "0>1:2/3 ");
	assert_comm(sig->phase[1].comm, "1>0:4/5 ");
	cpl_signature_free(sig);
}

static void test_numbers_are_exact(void **state)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig = parse(
	        HEAD "16777216,\"phases\":[{\"traffic\":[[16777215,0,"
	             "999999999999999,0.1],[0,16777215,123456789012345678,"
	             "1.5E+2],[1,0,-0,2.5e-3]]}]}",
	        &err);
	const double *bytes, *messages;

	assert_non_null(sig);
	bytes = sig->phase[0].comm->bytes;
	messages = sig->phase[0].comm->messages;
	assert_true(bytes[0] == 123456789012345678.0);
	assert_true(messages[0] == 150.0);
	assert_true(bytes[1] == 0.0);
	assert_true(messages[1] == 0.0025);
	assert_true(bytes[2] == 999999999999999.0);
	assert_true(messages[2] == 0.1);
	cpl_signature_free(sig);
}

static void test_messages(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {HEAD "2,\n\"phases\":[{\"traffic\":[\n[0,1,1,1],\n "
	              "[0,1,1]]}]}",
	         "x.json:4:8: phase 1, traffic row 2: has less than four "
	         "numbers; rows are [from, to, bytes, messages]"},
	        {HEAD "2,\"phases\":[{\"traffic\":[[0,2,1,1]]}]}",
	         "x.json: phase 1: traffic row 1: rank 2 is beyond the 2 "
	         "ranks (0 to 1)"},
	        {HEAD "2,\"phases\":[{\"file\":\"x\"}]}",
	         "x.json: phase 1: \"file\" needs a signature that is a file "
	         "itself"},
	        {HEAD "2,\"phases\":[{\"weight\":0,\"traffic\":[]}]}",
	         "x.json: phase 1: \"weight\" is 0; it must be above 0"},
	        {HEAD "2,\"phases\":[{\"name\":\"a\\nb\",\"traffic\":[]}]}",
	         "x.json: phase 1: \"name\" holds a control character; use "
	         "printable text"},
	        /* Fault 20: U+009B begins an escape sequence. */
	        {HEAD "2,\"phases\":[{\"name\":\"a\\u009b2Jb\",\"traffic\":[]}]}",
	         "x.json: phase 1: \"name\" holds a control character; use "
	         "printable text"},
	        {HEAD "2,\"phases\":[{\"traffic\":[]}]} ]",
	         "x.json:1:82: not valid JSON: end of file expected near "
	         "']'"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};

		assert_null(parse(row[i].text, &err));
		assert_string_equal(err.text, row[i].message);
	}
}

/* Cut anywhere, a signature is refused with a message, never half read. */
static void test_every_cut_is_refused(void **state)
{
	static const char text[] = HEAD
	        "2,\"name\":\"n\",\"phases\":[{\"weight\":1.5,\"traffic\":"
	        "[[0,1,1e3,1],[1,0,2,2]]},{\"pattern\":{\"type\":\"spread\","
	        "\"ranks\":2,\"degree\":[1,1],\"bytes\":1}}]}";

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		struct cpl_error err = {""};

		assert_null(cpl_signature_parse(text, n, "x", &err));
		assert_string_not_equal(err.text, "");
	}
}

static void assert_same(const struct cpl_signature *a,
                        const struct cpl_signature *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->application, b->application);
	assert_string_equal(a->recorded, b->recorded);
	assert_int_equal(a->ranks, b->ranks);
	assert_int_equal(a->n_phases, b->n_phases);
	for (int i = 0; i < a->n_phases; i++) {
		const struct cpl_phase *p = &a->phase[i], *q = &b->phase[i];
		size_t n = (size_t)p->comm->n_entries;

		assert_string_equal(p->name, q->name);
		assert_true(p->weight == q->weight);
		assert_true(p->time == q->time);
		assert_true(p->compute_time == q->compute_time);
		assert_int_equal(p->comm->n_entries, q->comm->n_entries);
		assert_memory_equal(p->comm->to, q->comm->to, n * sizeof(int));
		assert_memory_equal(p->comm->bytes, q->comm->bytes,
		                    n * sizeof(double));
		assert_memory_equal(p->comm->messages, q->comm->messages,
		                    n * sizeof(double));
	}
}

static void test_write_and_load(void **state)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig = parse(
	        HEAD "3,\"name\":\"\\\"q\\\" \\u00e9\",\"application\":\"a\","
	             "\"recorded\":{\"x\":0.1},\"phases\":[{\"name\":\"p\","
	             "\"weight\":0.1,\"time\":1e-7,\"compute_time\":3,"
	             "\"traffic\":[[0,1,0.3,1e17],[2,2,123456789,7]]},"
	             "{\"traffic\":[]}]}",
	        &err);
	char *json = cpl_path_join(dir, "s.json", NULL);
	char *one = cpl_path_join(dir, "s.phase1.comm", NULL);
	char *two = cpl_path_join(dir, "s.phase2.comm", NULL);
	char text[CPL_ERROR_MAX];
	struct cpl_signature *back;
	struct stat st;

	assert_non_null(sig);
	assert_int_equal(cpl_signature_write(sig, json, &err), 0);
	assert_int_equal(stat(json, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	back = cpl_signature_load(json, &err);
	assert_non_null(back);
	assert_same(sig, back);
	cpl_signature_free(back);

	assert_int_equal(cpl_signature_write_binary(sig, json, &err), 0);
	assert_int_equal(stat(one, &st), 0);
	assert_int_equal(st.st_size, 24 + 2 * 24);
	back = cpl_signature_load(json, &err);
	assert_non_null(back);
	assert_same(sig, back);
	cpl_signature_free(back);

	/* Side files that are there are somebody's: nothing is touched. */
	unlink(one);
	assert_int_equal(cpl_signature_write_binary(sig, json, &err), -1);
	snprintf(text, sizeof(text),
	         "%s: exists already; remove it or choose another name for the "
	         "signature",
	         two);
	assert_string_equal(err.text, text);
	assert_int_equal(access(one, F_OK), -1);
	assert_int_equal(truncate(two, 23), 0);
	assert_null(cpl_signature_load(json, &err));
	cpl_signature_free(sig);
	unlink(json);
	unlink(two);
	free(json);
	free(one);
	free(two);
}

static void test_import(void **state)
{
	static const struct {
		const char *format, *text;
		int ranks;
		const char *want;
	} row[] = {
	        {"coo", "# c\n0 1 10 2\r\n\n 3\t0 1e3 # x\n0 1 5", 4,
	         "0>1:15/3 3>0:1000/1 "},
	        {"coo", "# ranks 9\n#ranks are counted from 0\n0 1 1\n", 9,
	         "0>1:1/1 "},
	        {"coo", "# ranks 2", 2, ""},
	        {"mtx",
	         "%%MatrixMarket matrix coordinate real general\n%c\n\n"
	         "3 3 2\n1 3 2.5\n3 3 1\n",
	         3, "0>2:2.5/1 2>2:1/1 "},
	        {"mtx",
	         "%%MatrixMarket MATRIX Coordinate pattern Symmetric\n"
	         "2 2 2\n2 1\n1 1\n",
	         2, "0>0:1/1 0>1:1/1 1>0:1/1 "},
	        {"treematch", "0 5 0\n\n1 0 0.5\n0 0 7\n", 3,
	         "0>1:5/1 1>0:1/1 1>2:0.5/1 2>2:7/1 "},
	        {"treematch", "0\n", 1, ""},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig = cpl_signature_import_text(
		        row[i].text, strlen(row[i].text), "dir/m",
		        row[i].format, "n", NULL, &err);

		assert_string_equal(err.text, "");
		assert_non_null(sig);
		assert_int_equal(sig->ranks, row[i].ranks);
		assert_string_equal(sig->name, "n");
		assert_null(sig->application);
		assert_non_null(strstr(sig->recorded, "\"file\": \"m\""));
		assert_comm(sig->phase[0].comm, row[i].want);
		cpl_signature_free(sig);
	}
}

static void test_profile_names(void **state)
{
	static const char *const right[] = {"a", "a.b-c_9", "_x", "Z..json"};
	static const char *const wrong[] = {"",    ".a",    "a/b",      "..",
	                                    "a b", "a\n",   "\xc3\xa9", "a*",
	                                    "a;b", "$HOME", "a\\b",     "-x",
	                                    "--x"};
	char name[CPL_PROFILE_NAME_MAX + 2] = "";
	struct cpl_error err = {""};
	char *path;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_int_equal(cpl_profile_name_check(right[i], &err), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(cpl_profile_name_check(wrong[i], &err), -1);
		assert_null(cpl_profile_path("/d", wrong[i], &err));
	}
	memset(name, 'a', CPL_PROFILE_NAME_MAX);
	assert_int_equal(cpl_profile_name_check(name, &err), 0);
	memset(name, 'a', CPL_PROFILE_NAME_MAX + 1);
	assert_int_equal(cpl_profile_name_check(name, &err), -1);
	path = cpl_profile_path("/d/", "milc", &err);
	assert_string_equal(path, "/d/milc.json");
	free(path);
}

static void touch(const char *name)
{
	char *path = cpl_path_join(dir, name, NULL);

	assert_int_equal(cpl_file_write_atomic(path, "", 0, 0644, NULL), 0);
	free(path);
}

static void test_profile_list(void **state)
{
	static const char *const file[] = {"b.json",      "a.json",   ".c.json",
	                                   "d.txt",       "e f.json", ".json",
	                                   "b.json.tmp-1"};
	struct cpl_error err = {""};
	char **name = NULL;

	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++)
		touch(file[i]);
	assert_int_equal(cpl_profile_list(dir, &name, &err), 2);
	assert_string_equal(name[0], "a");
	assert_string_equal(name[1], "b");
	free(name[0]);
	free(name[1]);
	free(name);
	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		char *path = cpl_path_join(dir, file[i], NULL);

		unlink(path);
		free(path);
	}
	name = NULL;
	assert_int_equal(cpl_profile_list(dir, &name, &err), 0);
	free(name);
	assert_int_equal(cpl_profile_list("/nowhere", &name, &err), -1);
	assert_string_equal(err.text, "/nowhere: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_build_sorts_and_merges),
	        cmocka_unit_test(test_build_equals_a_dense_sum),
	        cmocka_unit_test(test_gather_equals_build),
	        cmocka_unit_test(test_what_crosses_blocks),
	        cmocka_unit_test(test_symmetric_and_subset),
	        cmocka_unit_test(test_parse_and_total),
	        cmocka_unit_test(test_name_of_the_file),
	        cmocka_unit_test(test_scan_looks_in_phases_only),
	        cmocka_unit_test(test_scan_goes_on_behind_traffic),
	        cmocka_unit_test(test_numbers_are_exact),
	        cmocka_unit_test(test_messages),
	        cmocka_unit_test(test_every_cut_is_refused),
	        cmocka_unit_test(test_write_and_load),
	        cmocka_unit_test(test_import),
	        cmocka_unit_test(test_profile_names),
	        cmocka_unit_test(test_profile_list),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
