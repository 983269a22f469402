/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What traffic is made of pieces, by hand: who is who, and what a collective
 * operation sends within a node. */
#include "commplace-config.h"

#include "unit.h"

#include "record/nccl_join.h"

#define LOSSES "losses 0 0 0 0 0\n"
#define HEAD "commplace-nccl 1\n"

/* Pieces that are one text, one after the other. */
static int read_pieces(struct nccl_join *j, const char *text, char *why)
{
	while (*text) {
		const char *end = strstr(text, "end\n");
		size_t n = end ? (size_t)(end - text) + 4 : strlen(text);

		if (nccl_join_parse(j, text, n, "piece", why))
			return -1;
		text += n;
	}
	return 0;
}

/* "FROM>TO:BYTES/MESSAGES ..." */
static void rows_text(const struct nccl_row *row, int64_t n, char *out,
                      size_t size)
{
	size_t at = 0;

	*out = '\0';
	for (int64_t i = 0; i < n; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%d>%d:%llu/%llu",
		                       i ? " " : "", row[i].from, row[i].to,
		                       (unsigned long long)row[i].bytes,
		                       (unsigned long long)row[i].messages);
}

static void check(const char *text, const char *wanted,
                  struct nccl_facts *facts)
{
	struct nccl_join *j = nccl_join_new();
	const struct nccl_row *row;
	char why[NCCL_WHY] = "", got[4096];
	int64_t n;

	if (read_pieces(j, text, why) ||
	    nccl_join_solve(j, &row, &n, facts, why))
		snprintf(got, sizeof(got), "%s", why);
	else
		rows_text(row, n, got, sizeof(got));
	assert_string_equal(got, wanted);
	nccl_join_free(j);
}

/* A process with four ranks of communicator a, in `nodes`; `lines` are of it. */
static void check_four(int nodes, const char *lines, const char *wanted)
{
	struct nccl_facts facts;
	char text[4096];

	snprintf(text, sizeof(text),
	         HEAD "process h 1 -1 -1 1 5 6\n" LOSSES
	              "communicator 0 a 4 0 %d 1 \n"
	              "communicator 1 a 4 1 %d 2 \n"
	              "communicator 2 a 4 2 %d 3 \n"
	              "communicator 3 a 4 3 %d 4 \n%send\n",
	         nodes, nodes, nodes, nodes, lines);
	check(text, wanted, &facts);
}

/* calls N FUNCTION SHAPE CHANNELS ROOT CALLS CALLED OPERATIONS, where functions are
 * 1 AllGather, 2 AllReduce, 3 AlltoAll, 4 Broadcast, 5 Gather, 6 Reduce, 7
 * ReduceScatter, 8 Scatter, and shapes are 0 ring, 1 chain, 2 direct. */
static void test_shapes(void **state)
{
	static const struct {
		int nodes;
		const char *lines, *wanted;
	} row[] = {
	        /* rings: 2 * 3 / 4 of the bytes, 6 steps; the last to the first */
	        {1, "calls 0 2 0 2 0 2 800 0\n", "0>1:1200/12"},
	        {1, "calls 3 2 0 2 0 2 800 0\n", "3>0:1200/12"},
	        {1, "calls 1 1 0 2 0 1 100 0\n", "1>2:300/3"},
	        {1, "calls 1 7 0 2 0 1 100 0\n", "1>2:300/3"},
	        /* not to the root, or not from it */
	        {1, "calls 1 4 0 2 2 1 100 0\n", ""},
	        {1, "calls 2 4 0 2 2 1 100 0\n", "2>3:100/1"},
	        {1, "calls 2 6 0 2 2 1 100 0\n", ""},
	        {1, "calls 1 6 0 2 2 1 100 0\n", "1>2:100/1"},
	        /* trees are chains in both directions */
	        {1, "calls 0 2 1 2 0 1 100 0\n", "0>1:100/1"},
	        {1, "calls 1 2 1 2 0 1 100 0\n", "1>0:100/1 1>2:100/1"},
	        {1, "calls 3 2 1 2 0 1 100 0\n", "3>2:100/1"},
	        /* direct: halves of all, or each its block */
	        {1, "calls 1 2 2 2 0 1 100 0\n", "1>0:50/1 1>2:50/1 1>3:50/1"},
	        {1, "calls 1 1 2 2 0 1 100 0\n",
	         "1>0:100/1 1>2:100/1 1>3:100/1"},
	        {1, "calls 1 4 2 2 1 1 9 0\n", "1>0:9/1 1>2:9/1 1>3:9/1"},
	        {1, "calls 1 4 2 2 0 1 9 0\n", ""},
	        {1, "calls 1 6 2 2 3 1 9 0\n", "1>3:9/1"},
	        {1, "calls 1 3 0 2 0 1 9 0\n", "1>0:9/1 1>2:9/1 1>3:9/1"},
	        {1, "calls 1 5 0 2 2 1 9 0\n", "1>2:9/1"},
	        {1, "calls 2 8 0 2 2 1 9 0\n", "2>0:9/1 2>1:9/1 2>3:9/1"},
	        /* two nodes of two: of 4 channels one leaves, as it was sent */
	        {2, "calls 1 2 0 4 0 1 800 1\npair 1 2 0 0 0 0 3 310\n",
	         "1>0:900/5 1>2:310/3"},
	        /* all of them leave */
	        {2, "calls 1 2 0 4 0 1 800 4\npair 1 2 0 0 0 0 3 310\n",
	         "1>2:310/3"},
	        /* a tree's chain ends with the node */
	        {2, "calls 1 2 1 4 0 1 800 1\npair 1 3 0 0 0 0 2 1600\n",
	         "1>0:800/1 1>3:1600/2"},
	        /* NVLink multicast within the node, of half the ranks' blocks */
	        {2, "calls 1 1 2 4 0 1 100 1\npair 1 3 0 0 0 0 2 100\n",
	         "1>0:200/1 1>3:100/2"},
	        /* no proxy of anyone sends: NVLink reaches all */
	        {2, "calls 1 2 0 4 0 1 800 0\n", "1>2:1200/6"},
	        {2, "calls 1 2 1 4 0 1 800 0\n", "1>0:800/1 1>2:800/1"},
	        /* alone in its node: nothing but what its proxies send */
	        {4, "calls 1 2 0 4 0 1 800 3\npair 1 2 0 0 0 0 2 1200\n",
	         "1>2:1200/2"},
	        /* a message is itself, or its steps, and another transport's
	         * traffic comes on top */
	        {1, "pair 0 2 3 300 0 0 0 0\n", "0>2:300/3"},
	        {2, "pair 0 2 3 300 5 305 0 0\n", "0>2:305/5"},
	        {2, "pair 0 2 3 300 0 0 5 70\n", "0>2:370/8"},
	        {1, "pair 0 0 1 8 0 0 0 0\n", "0>0:8/1"},
	        /* a signature holds no more */
	        {1,
	         "calls 0 2 0 255 0 9223372036854775807 9223372036854775807 "
	         "9223372036854775807\n",
	         "0>1:1000000000000000000/1000000000000000000"},
	        {1,
	         "pair 0 1 9223372036854775808 9223372036854775808 0 0 0 0\n",
	         "0>1:1000000000000000000/1000000000000000000"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		check_four(row[i].nodes, row[i].lines, row[i].wanted);
}

#define PROCESS(host, pid, rank, size)                                         \
	HEAD "process " host " " pid " " rank " " size " 1 5 6\n" LOSSES
#define PIECE(host, pid, rank, size, lines)                                    \
	PROCESS(host, pid, rank, size) lines "end\n"

static void test_who_is_who(void **state)
{
	struct nccl_facts facts;

	/* by the launcher */
	check(PIECE("a", "9", "1", "2",
	            "communicator 0 c 2 0 1 1 \npair 0 1 1 7 0 0 0 0\n")
	      PIECE("b", "3", "0", "2", "communicator 0 c 2 1 1 1 \n"),
	      "1>0:7/1", &facts);
	assert_int_equal(facts.hosts, 2);
	assert_true(facts.is_whole);
	/* it gave a number twice: by the largest communicator */
	check(PIECE("a", "9", "0", "2",
	            "communicator 0 c 2 0 1 1 \npair 0 1 1 7 0 0 0 0\n")
	      PIECE("b", "3", "0", "2", "communicator 0 c 2 1 1 1 \n"),
	      "0>1:7/1", &facts);
	/* communicators of two of four: by hosts and processes */
	check(PIECE("b", "9", "-1", "-1",
	            "communicator 0 c 2 0 1 1 \npair 0 1 1 7 0 0 0 0\n")
	      PIECE("b", "3", "-1", "-1", "communicator 0 c 2 1 1 1 \n")
	      PIECE("a", "10", "-1", "-1", "communicator 0 d 2 1 1 1 \n")
	      PIECE("a", "9", "-1", "-1",
	            "communicator 0 d 2 0 1 1 \npair 0 1 1 5 0 0 0 0\n"),
	      "0>1:5/1 3>2:7/1", &facts);
	assert_int_equal(facts.ranks, 4);
	/* a rank that wrote nothing is known where numbers are the run's */
	check(PIECE("a", "9", "1", "4",
	            "communicator 0 c 4 1 1 1 \ncommunicator 1 d 2 0 1 1 \n"
	            "pair 0 3 1 7 0 0 0 0\npair 1 1 1 5 0 0 0 0\n"),
	      "1>3:7/1", &facts);
	assert_int_equal(facts.incomplete, 3);
	assert_int_equal(facts.unplaced, 5);
	assert_false(facts.is_whole);
}

/* One process for all GPUs: threads tell, or else the order, which is said. */
static void test_threads(void **state)
{
#define ALL                                                                    \
	PROCESS("a", "9", "-1", "-1")                                          \
	"communicator 0 c 3 0 1 11 \n"                                         \
	"communicator 1 c 3 1 1 12 \ncommunicator 2 c 3 2 1 13 \n"
	struct nccl_facts facts;

	check(ALL "communicator 3 d 2 0 1 13 \ncommunicator 4 d 2 1 1 12 \n"
	          "pair 3 1 1 7 0 0 0 0\nend\n",
	      "2>1:7/1", &facts);
	assert_int_equal(facts.ambiguous, 0);
	check(ALL "communicator 3 d 2 0 1 99 \ncommunicator 4 d 2 1 1 98 \n"
	          "pair 3 1 1 7 0 0 0 0\nend\n",
	      "0>1:7/1", &facts);
	assert_int_equal(facts.ambiguous, 1);
	check(ALL "communicator 3 d 3 0 1 99 \ncommunicator 4 d 3 1 1 11 \n"
	          "communicator 5 d 3 2 1 12 \npair 3 2 1 7 0 0 0 0\nend\n",
	      "0>2:7/1", &facts);
	assert_int_equal(facts.ambiguous, 0);
}

/* Hosts are nodes when there are as many of them. */
static void test_hosts(void **state)
{
	struct nccl_facts facts;

	check(PIECE("a", "1", "0", "4", "communicator 0 c 4 0 2 1 \n")
	      PIECE("b", "2", "1", "4",
	            "communicator 0 c 4 1 2 1 \ncalls 0 2 0 2 0 1 800 1\n"
	            "pair 0 2 0 0 0 0 1 600\n")
	      PIECE("a", "3", "2", "4", "communicator 0 c 4 2 2 1 \n")
	      PIECE("b", "4", "3", "4", "communicator 0 c 4 3 2 1 \n"),
	      "1>2:600/1 1>3:600/3", &facts);
	assert_int_equal(facts.network_bytes, 600);
	assert_int_equal(facts.derived_bytes, 600);
}

static void test_keep(void **state)
{
	static const char pieces[] =
	        PIECE("a", "1", "0", "3", "communicator 0 c 2 0 1 1 \n")
	        PIECE("a", "2", "1", "3", "communicator 0 c 2 1 1 1 \n")
	        /* another communicator of the same run */
	        PIECE("a", "3", "2", "3", "communicator 0 d 1 0 1 1 \n")
	        /* other runs */
	        PIECE("a", "4", "1", "3", "communicator 0 e 2 0 1 1 \n")
	        PIECE("a", "5", "3", "4", "communicator 0 f 2 0 1 1 \n");
	struct nccl_join *j = nccl_join_new();
	char why[NCCL_WHY];
	const struct nccl_row *row;
	struct nccl_facts facts;
	int64_t n;

	assert_int_equal(read_pieces(j, pieces, why), 0);
	nccl_join_keep(j, "a", 2);
	assert_int_equal(nccl_join_solve(j, &row, &n, &facts, why), 0);
	assert_int_equal(facts.processes, 3);
	assert_int_equal(facts.ranks, 3);
	nccl_join_free(j);
}

/* 20 and 21 rounds are the same steps, a fifth process's 5 are not; what does not
 * divide, and all that the fifth did, is in no step. */
static void test_steps(void **state)
{
	static const char *const rounds[] = {"20", "21", "20", "20", "5"};
	struct nccl_join *j = nccl_join_new();
	const struct nccl_row *row;
	struct nccl_facts facts;
	char why[NCCL_WHY], text[600];
	int64_t n;

	(void)state;
	for (int i = 0; i < 5; i++) {
		snprintf(text, sizeof(text),
		         "commplace-nccl 1\nprocess h %d %d 5 1 1000 5\n"
		         "losses 0 0 0 0 0\n"
		         "communicator 0 a 5 %d 1 1 \n"
		         "pair 0 %d 50 5007 0 0 0 0\n"
		         "steps %s %d\n"
		         "step-pair 0 %d %d %d 0 0 0 0\nend\n",
		         i + 1, i, i, (i + 1) % 5, rounds[i],
		         100 * atoi(rounds[i]), (i + 1) % 5,
		         2 * atoi(rounds[i]), 200 * atoi(rounds[i]));
		assert_int_equal(nccl_join_parse(j, text, strlen(text), "piece",
		                                 why),
		                 0);
	}
	assert_int_equal(nccl_join_solve(j, &row, &n, &facts, why), 0);
	assert_int_equal(n, 5);
	assert_int_equal(facts.steps, 20);
	assert_int_equal(facts.step_time, 100);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(row[i].bytes, 5007);
		assert_int_equal(row[i].messages, 50);
		assert_int_equal(row[i].step_bytes, i < 4 ? 200 : 0);
		assert_int_equal(row[i].step_messages, i < 4 ? 2 : 0);
	}
	assert_int_equal(facts.derived_bytes, 5 * 5007);
	nccl_join_free(j);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} row[] = {
	        {"x", "piece:1: the first line is not \"commplace-nccl 1\""},
	        {HEAD, "piece:2: the file ends early"},
	        {HEAD "end\n", "piece:2: no process is named"},
	        {HEAD "process h 1 -1 -1 2 5 6\nend\n",
	         "piece:2: a number is out of its range"},
	        {HEAD "process h 1 -2 -1 1 5 6\nend\n",
	         "piece:2: a number is out of its range"},
	        {HEAD "process h 1 9999999 -1 1 5 6\nend\n",
	         "piece:2: a number is out of its range"},
	        {HEAD "process h\nend\n",
	         "piece:2: the name of a host is needed"},
	        {HEAD "steps 20\nend\n", "piece:2: a number is needed"},
	        {HEAD "step-pair 0 1 0 0 0 0 0 0\nend\n",
	         "piece:2: no communicator has that number"},
	        {HEAD "florp 1\nend\n", "piece:2: no such line is known"},
	        {HEAD "communicator 0 a 2147483648 0 1 1 \nend\n",
	         "piece:2: a number is out of its range"},
	        {HEAD "communicator 0 a 4 4 1 1 \nend\n",
	         "piece:2: a number is out of its range"},
	        {HEAD "communicator 0 a 4 3 1 1 \ncommunicator 0 b 4 3 1 1 "
	              "\nend\n",
	         "piece:3: communicators are not in order"},
	        {HEAD "pair 0 1 0 0 0 0 0 0\nend\n",
	         "piece:2: no communicator has that number"},
	        {HEAD "communicator 0 a 4 3 1 1 \npair 0 4 0 0 0 0 0 0\nend\n",
	         "piece:3: a number is out of its range"},
	        {HEAD "communicator 0 a 4 3 1 1 \ncalls 0 0 0 1 0 1 1 1\nend\n",
	         "piece:3: a number is out of its range"},
	        {HEAD "communicator 0 a 4 3 1 1 \npair 0 1 0 0 0 x 0 0\nend\n",
	         "piece:3: a number is needed"},
	        {HEAD "communicator 0 a 4 3 1 1 \n"
	              "pair 0 1 18446744073709551615 0 0 0 0 0\nend\n",
	         "piece:3: a number is out of its range"},
	        {PROCESS("h", "1", "-1", "-1") "end\n",
	         "no process had a communicator"},
	        {PIECE("h", "1", "-1", "-1", "communicator 0 a 2 0 1 1 \n")
	         PIECE("h", "2", "-1", "-1", "communicator 0 a 2 0 1 1 \n"),
	         "two processes are the same rank of a communicator"},
	        {PIECE("h", "1", "-1", "-1", "communicator 0 a 2 0 1 1 \n")
	         PIECE("h", "2", "-1", "-1", "communicator 0 a 3 1 1 1 \n"),
	         "a communicator has two numbers of ranks"},
	};
	struct nccl_facts facts;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		check(row[i].text, row[i].why, &facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_shapes),
	        cmocka_unit_test(test_who_is_who),
	        cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_hosts),
	        cmocka_unit_test(test_keep),
	        cmocka_unit_test(test_steps),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
