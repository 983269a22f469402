/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What jobs ask for of their nodes, and that they get it under every policy. */
#include "commplace-config.h"

#include "unit.h"

#include "campaign/bound.h"
#include "campaign_cases.h"
#include "mapping/segments.h"

static void test_options(void **state)
{
	static const struct {
		const char *text, *says; /* NULL: it is read */
		struct cpl_asked asked;
	} row[] = {
	        {"", NULL, {0}},
	        {"--segment=16", NULL, {.segment = 16}},
	        {" --segment  16\t", NULL, {.segment = 16}},
	        {"--segment=4 --segment=8", NULL, {.segment = 4}},
	        {"--spread-segments --consolidate-segments", NULL,
	         {.spread = true, .consolidate = true}},
	        {"--switches=2@1:00:00", NULL, {.switches = 2}},
	        {"--contiguous --exclusive=topo", NULL,
	         {.contiguous = true, .whole = true}},
	        {"--segment=0", "'--segment=0' needs a number from 1", {0}},
	        {"--segment=", "'--segment=' needs", {0}},
	        {"--segment", "'--segment' needs", {0}},
	        {"--segment=-1", "needs", {0}},
	        {"--segment=+1", "needs", {0}},
	        {"--segment=1.5", "needs", {0}},
	        {"--segment=4@1", "needs", {0}},
	        {"--segment=2147483648", "needs", {0}},
	        {"--segment=99999999999999999999", "needs", {0}},
	        {"--switches=x", "needs", {0}},
	        {"--segments=4", "'--segments=4' is none of", {0}},
	        {"--contiguous=1", "is none of", {0}},
	        {"--exclusive", "is none of", {0}},
	        {"--exclusive=topology", "is none of", {0}},
	        {"job.sh", "'job.sh' is none of", {0}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_asked asked;
		int rc = cpl_asked_read(row[i].text, &asked, &err);

		print_message("%s\n", row[i].text);
		assert_int_equal(rc, row[i].says ? -1 : 0);
		if (rc)
			assert_non_null(strstr(err.text, row[i].says));
		else
			assert_memory_equal(&asked, &row[i].asked,
			                    sizeof(asked));
	}
}

/* Of a command line what is known counts, and nothing is an error. */
static void test_submit_lines(void **state)
{
	static const struct {
		const char *text;
		struct cpl_asked asked;
	} row[] = {
	        {"sbatch -N 16 --segment=4 job.sh", {.segment = 4}},
	        {"srun --switches 2 --contiguous=no ./a", {.switches = 2}},
	        {"sbatch --segment=x --exclusive job.sh", {0}},
	        {"sbatch --exclusive=topo", {.whole = true}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_asked asked;

		cpl_asked_find(row[i].text, &asked);
		assert_memory_equal(&asked, &row[i].asked, sizeof(asked));
	}
}

/* The submit line is the last column and may have bars; a job's own goes before
 * the map's. */
static void test_column(void **state)
{
	struct cpl_error err = {""};
	struct cpl_log log;

	take_log("JobID|Submit|Elapsed|NNodes|SubmitLine\n"
	         "1|0|9|4|sbatch --segment=2 --wrap=a|b|c\n"
	         "2|0|9|4|\n",
	         1, &log);
	assert_int_equal(log.job[0].asked.segment, 2);
	assert_false(cpl_asked_any(&log.job[1].asked));
	cpl_log_free(&log);
	assert_int_equal(parse_log("JobID|Submit|Elapsed|SubmitLine|NNodes\n"
	                           "1|0|9|a|b|4\n",
	                           1, &log, &err),
	                 -1);
	assert_non_null(strstr(err.text, "6 fields, but 5 columns"));
}

/* 16 nodes on leaf switches 0-3, 4-7, 8-11, 12-15. Jobs by
 * "submit run nodes options" are played under one policy. */
struct bounded_job {
	double submit, run;
	int nodes;
	const char *options;
	double starts;     /* -1: never */
	const char *where; /* its nodes as letters, or NULL */
};

static void play_jobs(const struct bounded_job *job, int n, const char *policy)
{
	char log[4096] = "JobID|Submit|Elapsed|NNodes|SubmitLine\n";
	struct played p;

	for (int i = 0; i < n; i++)
		sprintf(log + strlen(log), "%d|%g|%g|%d|%s\n", i + 1,
		        job[i].submit, job[i].run, job[i].nodes,
		        job[i].options);
	play(&p, log, "Match Pattern=none\n", &policy, 1, 1,
	     CPL_CAMPAIGN_ALONE);
	for (int i = 0; i < n; i++) {
		const struct cpl_campaign_job *out = &p.result[0].job[i];
		char where[17] = "";

		print_message("%s: job %d\n", policy, i + 1);
		assert_true(out->start == job[i].starts);
		if (!job[i].where)
			continue;
		for (int k = 0; k < job[i].nodes; k++)
			where[k] = (char)('a' + out->node[k]);
		assert_string_equal(where, job[i].where);
	}
	unplay(&p);
}
#define PLAY(job, policy)                                                      \
	play_jobs(job, sizeof(job) / sizeof(*(job)), policy)

/* flat's choice is made to fit: as much of it as a switch has is kept. */
static void test_switches(void **state)
{
	static const struct bounded_job jobs[] = {
	        {0, 100, 3, "--switches=1", 0, "abc"},
	        {0, 100, 3, "--switches=1", 0, "efg"},
	        {0, 100, 5, "--switches=2", 0, "hijkl"},
	        {0, 100, 2, "--switches=1", 0, "mn"},
	        {0, 100, 5, "--switches=1", -1, NULL},
	};
	static const struct bounded_job blind[] = {
	        {0, 100, 3, "--switches=1", 0, "abc"},
	        {0, 100, 3, "--switches=1", 0, "def"},
	};

	PLAY(jobs, "flat");
	PLAY(blind, "blind");
}

/* Four jobs leave d, h, l and p, none of which is next to another. */
#define FOUR                                                                   \
	{0, 100, 3, "--switches=1", 0, "abc"},                                 \
	        {0, 100, 3, "--switches=1", 0, "efg"},                         \
	        {0, 100, 3, "--switches=1", 0, "ijk"},                         \
	        {0, 100, 3, "--switches=1", 0, "mno"}

static void test_reservation(void **state)
{
	/* The first waits for two on a switch, which those that end make; it
	 * needs none that is free now. */
	static const struct bounded_job others[] = {
	        FOUR,
	        {1, 100, 4, "--segment=2", 100, NULL},
	        {2, 200, 3, "", 2, "hlp"},
	};
	/* A whole switch: d is kept for it, but for who ends before. */
	static const struct bounded_job whole[] = {
	        FOUR,
	        {1, 100, 4, "--switches=1", 100, "abcd"},
	        {2, 200, 4, "", 100, NULL},
	        {2, 200, 3, "", 2, "hlp"},
	        {2, 90, 1, "", 2, "d"},
	};
	/* In a row there are no three until then. */
	static const struct bounded_job row[] = {
	        FOUR,
	        {1, 50, 3, "--contiguous", 100, "abc"},
	        {3, 50, 1, "--contiguous", 3, "d"},
	};

	PLAY(others, "flat");
	PLAY(whole, "flat");
	PLAY(row, "flat");
}

/* Others do not get what is left of a switch that a job has for itself. */
static void test_whole_units(void **state)
{
	static const struct bounded_job held[] = {
	        {0, 100, 1, "--exclusive=topo", 0, "a"},
	        {1, 300, 12, "", 1, "efghijklmnop"},
	        {2, 10, 1, "", 100, "a"},
	        {3, 10, 3, "", 100, "bcd"},
	};
	/* It waits for such a switch, which is kept for it as a whole. */
	static const struct bounded_job waits[] = {
	        {0, 50, 14, "", 0, NULL},
	        {1, 10, 1, "--exclusive=topo", 50, "a"},
	        {2, 200, 2, "", 2, NULL},
	        {3, 200, 13, "", 60, NULL},
	};
	/* Segments of two in two switches, and each alone in its own. */
	static const struct bounded_job spread[] = {
	        {0, 100, 4, "--segment=2 --spread-segments", 0, NULL},
	        {0, 100, 4, "--segment=2 --exclusive=topo", 0, NULL},
	        {0, 100, 10, "", 100, NULL},
	};

	PLAY(held, "flat");
	PLAY(waits, "flat");
	PLAY(spread, "tree");
}

static int crossed_of(const char *options, int n, const char *where)
{
	struct cpl_network *net = make_network();
	struct cpl_asked asked;
	struct bounds b;
	int node[16], count[16], out;

	assert_int_equal(cpl_asked_read(options, &asked, NULL), 0);
	assert_int_equal(bounds_open(&b, net, NULL, 1, NULL), 0);
	assert_int_equal(b.least, 4);
	assert_int_equal(bounds_ask(&b, 0, n, &asked, NULL), 0);
	for (int i = 0; i < n; i++)
		node[i] = where[i] - 'a';
	out = bound_crossed(&b, bound_of(&b, 0), node, n, count);
	bounds_close(&b);
	cpl_network_free(net);
	return out;
}

static void test_crossed(void **state)
{
	assert_int_equal(crossed_of("--segment=2", 4, "abef"), 0);
	/* In whatever order. */
	assert_int_equal(crossed_of("--segment=2", 4, "aebf"), 0);
	assert_int_equal(crossed_of("--segment=2", 4, "abce"), 1);
	assert_int_equal(crossed_of("--segment=2", 4, "aeim"), 2);
	assert_int_equal(crossed_of("--segment=4", 8, "abcefgij"), 2);
	/* More than a switch has: it may lie on two. */
	assert_int_equal(crossed_of("--segment=6", 6, "abcdef"), 0);
	assert_int_equal(crossed_of("--segment=6", 6, "abefij"), 1);
}

/* Jobs that the empty machine has no nodes for. */
static void test_never(void **state)
{
	static const struct bounded_job jobs[] = {
	        {0, 10, 16, "--segment=4 --spread-segments", 0, NULL},
	        {0, 10, 10, "--segment=4", -1, NULL},
	        {0, 10, 5, "--switches=1", -1, NULL},
	        {0, 10, 10, "--segment=2 --spread-segments", -1, NULL},
	        {0, 10, 8, "--segment=2 --spread-segments", 10, NULL},
	        {0, 10, 17, "", -1, NULL},
	};
	struct cpl_error err = {""};
	const char *flat = "flat";
	struct played p;

	PLAY(jobs, "flat");
	get_ready(&p, NULL,
	          "JobID|Submit|Elapsed|NNodes|SubmitLine\n"
	          "1|0|10|5|--switches=1\n",
	          "Match Pattern=none\n");
	assert_int_equal(cpl_campaign_run(&p.c, &flat, 1, p.result, &err), -1);
	assert_non_null(strstr(err.text, "has as it asks for them"));
	p.n = 1;
	unplay(&p);
}

/* Two groups of two leaf switches each; consolidated segments lie in one group,
 * where one holds them. */
static void test_consolidated(void **state)
{
	static const char groups[] =
	        "{\"format\":\"commplace-network\",\"version\":1,\"type\":"
	        "\"dragonfly\",\"groups\":2,\"rows\":1,\"columns\":2,"
	        "\"nodes_per_router\":4,\"nodes\":\"n[0-15]\"}";
	const char *flat = "flat";
	struct cpl_error err = {""};
	struct played p;

	/* Nodes 3, 7 and 8-15 are free: 3 and 7 are in a group, with no pair. */
	get_ready(&p, cpl_network_parse(groups, strlen(groups), "net", &err),
	          "JobID|Submit|Elapsed|NNodes|SubmitLine\n"
	          "1|0|10|3|--switches=1\n"
	          "2|0|10|3|--switches=1\n"
	          "3|0|10|6|--segment=3 --consolidate-segments\n",
	          "Match Pattern=none\n");
	play_ready(&p, &flat, 1);
	for (int k = 0; k < 6; k++)
		assert_true(p.result[0].job[2].node[k] >= 8);
	assert_true(p.result[0].job[2].start == 0);
	unplay(&p);
}

/* Whatever chooses, with whatever traffic: all nodes are as asked for, none is given
 * twice, for any number of threads. */
static void check_job(const struct played *p, const struct cpl_campaign_job *job,
                      int i)
{
	const struct cpl_log_job *log = &p->log.job[i];
	int count[4] = {0}, used = 0, pairs = 0;

	for (int k = 0; k < log->nodes; k++)
		used += !count[job->node[k] / 4]++;
	for (int u = 0; u < 4; u++)
		pairs += count[u] / 2;
	if (i % 3 == 1 && log->nodes % 2 == 0) {
		assert_int_equal(pairs, log->nodes / 2);
		assert_int_equal(job->groups, log->nodes / 2);
		assert_int_equal(job->crossed, 0);
	}
	if (i % 3 == 2 && log->nodes <= 8)
		assert_true(used <= 2);
}

static void check_overlap(const struct played *p,
                          const struct cpl_campaign_result *result)
{
	for (int i = 0; i < p->log.n_jobs; i++)
		for (int k = 0; k < i; k++) {
			const struct cpl_campaign_job *a = &result->job[i];
			const struct cpl_campaign_job *b = &result->job[k];
			unsigned in = 0;

			if (a->start < 0 || b->start < 0 ||
			    a->start >= b->end || b->start >= a->end)
				continue;
			for (int j = 0; j < p->log.job[i].nodes; j++)
				in |= 1u << a->node[j];
			for (int j = 0; j < p->log.job[k].nodes; j++)
				assert_false(in & 1u << b->node[j]);
		}
}

static void test_every_policy(void **state)
{
	static const char map[] =
	        "Match Name=0 Pattern=ring Share=30\n"
	        "Match Name=1 Pattern=stencil-2d Share=40 "
	        "Options=--segment=2\n"
	        "Match Name=2 Pattern=none Options=--switches=2\n";
	static const char *const policy[] = {"tree", "adaptive", "traffic+quick",
	                                     "round-robin-nodes"};
	char *log = many_jobs();
	struct played one, three;

	play(&one, log, map, policy, 4, 1, CPL_CAMPAIGN_ALONE);
	play(&three, log, map, policy, 4, 3, CPL_CAMPAIGN_ALONE);
	for (int k = 0; k < 4; k++) {
		int ran = 0;

		for (int i = 0; i < one.log.n_jobs; i++) {
			const struct cpl_campaign_job *a =
			        &one.result[k].job[i];
			const struct cpl_campaign_job *b =
			        &three.result[k].job[i];

			assert_true(a->start == b->start && a->end == b->end);
			if (a->start < 0)
				continue;
			assert_memory_equal(a->node, b->node,
			                    sizeof(int) * (size_t)one.log.job[i]
			                                          .nodes);
			check_job(&one, a, i);
			ran++;
		}
		assert_int_equal(ran + one.result[k].too_large, 200);
		assert_true(ran > 120);
		check_overlap(&one, &one.result[k]);
	}
	unplay(&one);
	unplay(&three);
	free(log);
}

/* Jobs that ask for nothing get what `segment advise` says of their traffic. */
static void test_segments_of_traffic(void **state)
{
	static const char log[] = "JobID|Submit|Elapsed|NNodes|SubmitLine\n"
	                          "1|0|60|8|\n"
	                          "2|60|60|8|--segment=2\n"
	                          "3|120|60|8|--switches=2\n";
	const char *flat = "flat";
	struct cpl_segment_advice advice;
	struct cpl_comm *comm = cpl_jobs_pattern_comm(
	        cpl_jobs_pattern_find("recursive-halving", NULL), 8, NULL);
	struct played p;

	assert_int_equal(cpl_segment_advise(comm, 1, 4, &advice, NULL), 0);
	assert_true(advice.segment > 1);
	get_ready(&p, NULL, log, "Match Pattern=recursive-halving Share=40\n");
	p.c.segments = true;
	play_ready(&p, &flat, 1);
	assert_int_equal(p.result[0].job[0].groups, 8 / advice.segment);
	assert_int_equal(p.result[0].job[1].groups, 4);
	assert_int_equal(p.result[0].job[2].groups, 0);
	unplay(&p);
	play(&p, log, "Match Pattern=recursive-halving Share=40\n", &flat, 1, 1,
	     CPL_CAMPAIGN_ALONE);
	assert_int_equal(p.result[0].job[0].groups, 0);
	unplay(&p);
	cpl_segment_advice_free(&advice);
	cpl_comm_free(comm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_options),
	        cmocka_unit_test(test_submit_lines),
	        cmocka_unit_test(test_column),
	        cmocka_unit_test(test_switches),
	        cmocka_unit_test(test_reservation),
	        cmocka_unit_test(test_whole_units),
	        cmocka_unit_test(test_crossed),
	        cmocka_unit_test(test_never),
	        cmocka_unit_test(test_consolidated),
	        cmocka_unit_test(test_every_policy),
	        cmocka_unit_test(test_segments_of_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
