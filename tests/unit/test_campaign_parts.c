/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What campaigns are made of: names of policies, kinds of jobs and what is kept
 * of them, running jobs, and what results come to. */
#include "commplace-config.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "campaign/campaign_internal.h"
#include "campaign/running.h"
#include "campaign/summary.h"
#include "campaign_cases.h"
#include "mapping/mappers.h"
#include "network_text.h"
#include "number.h"

#define NAMES                                                                  \
	"neither flat, tree, tree-rank, select-linear, greedy, balanced nor "   \
	"adaptive, and "

static void test_names_of_policies(void **state)
{
	static const struct {
		const char *name, *mapping;
		bool own;
		const char *asked, *mapper, *says; /* says: NULL, it is one */
	} row[] = {
	        {"flat", "quick", true, "flat", NULL, NULL},
	        {"Tree-Rank", "quick", true, "Tree-Rank", NULL, NULL},
	        {"select-linear+mapping", "quick", true, "select-linear",
	         "quick", NULL},
	        {"adaptive+linear", "quick", true, "adaptive", "linear", NULL},
	        {"auto", "quick", false, "auto", NULL, NULL},
	        {"auto+MAPPING", "greedyallc", false, "auto", "greedyallc",
	         NULL},
	        {"traffic+greedyallc", "quick", false, "traffic", "greedyallc",
	         NULL},
	        {"nosuch", "quick", false, NULL, NULL, NAMES},
	        {"nosuch", "quick", false, NULL, NULL, "nosuch"},
	        {"", "quick", false, NULL, NULL, NAMES},
	        {"auto+florp", "quick", false, NULL, NULL, "florp"},
	        {"auto+", "quick", false, NULL, NULL, "''"},
	        {"0123456789012345678901234567890123456789012345678901234567890"
	         "12",
	         "quick", false, NULL, NULL, NAMES},
	        {"0123456789012345678901234567890123456789012345678901234567890"
	         "123",
	         "quick", false, NULL, NULL,
	         "'0123456789012345678901234567890123456789...' is no policy"},
	};
	struct cpl_network *net = make_network();

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct chooser chooser;
		int rc = campaign_chooser(net, row[i].name, row[i].mapping,
		                          &chooser, &err);

		print_message("%s\n", row[i].name);
		assert_int_equal(rc, row[i].says ? -1 : 0);
		assert_int_equal(
		        cpl_campaign_policy_check(net, row[i].name, NULL), rc);
		if (rc) {
			if (!strstr(err.text, row[i].says))
				fail_msg("'%s', not '%s'", err.text,
				         row[i].says);
			continue;
		}
		assert_string_equal(chooser.asked, row[i].asked);
		assert_int_equal(chooser.own != NULL, row[i].own);
		assert_int_equal(chooser.mapper != NULL, row[i].mapper != NULL);
		if (row[i].mapper)
			assert_string_equal(chooser.mapper->name,
			                    row[i].mapper);
	}
	cpl_network_free(net);
}

/* Jobs and kinds */

/* Jobs by "name nodes", each a minute; name and line are the rule's. */
static const char kinds_log[] =
        "JobID|Submit|Elapsed|NNodes|JobName|Share\n"
        "1|0|60|8|b|\n"    /* kind 3 */
        "2|1|60|2|a|\n"    /* 0 */
        "3|2|60|4|a|\n"    /* 2 */
        "4|3|60|2|a|\n"    /* 0 */
        "5|4|60|2|a|70\n"  /* 1: another share */
        "6|5|60|16|c|\n"   /* none: no traffic */
        "7|6|60|17|a|\n"   /* none: too large */
        "8|7|60|1|a|\n"    /* none: nobody to send to */
        "9|8|60|2|a|0\n"   /* none: no share */
        "10|9|60|1|b|\n"   /* none: its signature is for other ranks */
        "11|10|60|2|x|\n"  /* none: no rule */
        "12|11|60|1|d|\n"; /* 4, all inside its node */
static const char kinds_map[] =
        "Match Name=a Pattern=ring Share=40\n"
        "Match Name=b Signature=halo RanksPerNode=2\n"
        "Match Name=c Pattern=none\n"
        "Match Name=d Pattern=ring Share=40 RanksPerNode=4\n";

/* Of a ring: 10 times 4 s, of which 1 s is sending. */
static struct cpl_signature *halo_of(int ranks)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	char text[512];

	snprintf(
	        text, sizeof(text),
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"ranks\": %d, \"phases\": [{\"name\": \"p\", \"weight\": "
	        "10, \"time\": 4, \"compute_time\": 3, \"pattern\": {\"type\": "
	        "\"stencil\", \"dims\": [%d], \"points\": 3, \"periodic\": "
	        "true, \"bytes\": 1}}]}",
	        ranks, ranks);
	sig = cpl_signature_parse(text, strlen(text), "halo", &err);
	if (!sig)
		fail_msg("%s", err.text);
	return sig;
}

/* The last of 8 nodes has one rank. */
static struct cpl_signature *halo(void)
{
	return halo_of(15);
}

static void test_kinds(void **state)
{
	static const int of[] = {3, 0, 2, 0, 1, -1, -1, -1, -1, -1, -1, 4};
	static const struct {
		int rule, nodes, ranks;
		double share;
		bool sends;
	} want[] = {{0, 2, 2, 0.4, true},
	            {0, 2, 2, 0.7, true},
	            {0, 4, 4, 0.4, true},
	            {1, 8, 15, 0.25, true},
	            {3, 1, 4, 0.4, false}};
	struct cpl_error err = {""};
	struct kinds kinds;
	struct played p;

	get_ready(&p, NULL, kinds_log, kinds_map);
	p.signature[1] = halo();
	for (p.c.threads = 1; p.c.threads < 4; p.c.threads += 2) {
		assert_int_equal(campaign_kinds(&p.c, &kinds, &err), 0);
		assert_int_equal(kinds.n, 5);
		assert_int_equal(kinds.other_ranks, 1);
		for (int i = 0; i < p.log.n_jobs; i++)
			assert_int_equal(kinds.of[i], of[i]);
		for (int k = 0; k < kinds.n; k++) {
			const struct kind *kind = &kinds.kind[k];

			assert_int_equal(kind->rule, want[k].rule);
			assert_int_equal(kind->nodes, want[k].nodes);
			assert_int_equal(kind->ranks, want[k].ranks);
			assert_number(kind->share, want[k].share, 1e-15);
			assert_int_equal(kind->sends, want[k].sends);
			assert_null(kind->comm);
			/* Its run as stated, or such that it has its share. */
			if (k == 3)
				assert_number(kind->seconds, 40, 1e-12);
			else if (kind->sends)
				assert_number(kind->alone / kind->seconds,
				              kind->share, 1e-12);
		}
		/* Two on one switch: a megabyte each way, node links of 1. */
		assert_number(kinds.kind[0].alone, 1e6, 1e-6);
		campaign_kinds_free(&kinds);
	}
	cpl_signature_free(p.signature[1]);
	unplay(&p);
}

/* One for each size and share, the smaller first, in whatever order jobs come.
 */
static void test_kinds_in_order(void **state)
{
	char log[90 * 40] = "JobID|Submit|Elapsed|NNodes|Share\n";
	struct cpl_error err = {""};
	struct kinds kinds;
	struct played p;

	for (int i = 0; i < 90; i++)
		sprintf(log + strlen(log), "%d|%d|60|%d|%d\n", i, i,
		        2 + i * 7 % 15, 20 + i * 7 / 15 % 3 * 20);
	get_ready(&p, NULL, log, "Match Pattern=ring\n");
	assert_int_equal(campaign_kinds(&p.c, &kinds, &err), 0);
	assert_int_equal(kinds.n, 45);
	for (int i = 0; i < p.log.n_jobs; i++) {
		const struct kind *kind = &kinds.kind[kinds.of[i]];

		assert_int_equal(kind->nodes, p.log.job[i].nodes);
		assert_true(kind->share == p.log.job[i].share);
	}
	for (int k = 1; k < kinds.n; k++)
		assert_true(kinds.kind[k].nodes > kinds.kind[k - 1].nodes ||
		            (kinds.kind[k].nodes == kinds.kind[k - 1].nodes &&
		             kinds.kind[k].share > kinds.kind[k - 1].share));
	campaign_kinds_free(&kinds);
	unplay(&p);
}

static void test_kinds_that_cannot_be_made(void **state)
{
	static const char *const flat[] = {"flat"};
	static const struct {
		const char *map, *says;
	} row[] = {
	        {"Match Pattern=none\nMatch Name=z Pattern=ring\n", NULL},
	        {"\nMatch Name=17 Pattern=ring\n",
	         "line 2 of the jobs' map: Share is missing, and neither the "
	         "log nor a signature with times states it"},
	        {"\n\nMatch Pattern=all-to-all Share=10 RanksPerNode=1024\n",
	         "jobs of 16 nodes by line 3 of the jobs' map: all-to-all of "
	         "16384 ranks has more than 200000000 entries"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct played p;

		get_ready(&p, NULL, SWF(1, 0, 10, 16, 16, -1), row[i].map);
		p.n = 1;
		assert_int_equal(
		        cpl_campaign_run(&p.c, flat, 1, p.result, &err),
		        row[i].says ? -1 : 0);
		assert_string_equal(err.text, row[i].says ? row[i].says : "");
		unplay(&p);
	}
}

/* A decision that fails says under which policy. */
static void test_decisions_that_fail(void **state)
{
	static const char *const policies[] = {"flat", "auto", "tree"};

	for (int threads = 1; threads < 4; threads += 2)
		for (int reference = 0; reference < 2; reference++) {
			struct cpl_error err = {""};
			struct played p;

			get_ready(&p, NULL,
			          SWF(1, 0, 10, 4, 4, -1)
			                  SWF(2, 1, 10, 4, 4, -1),
			          "Match Pattern=ring Share=10\n");
			p.n = 3;
			p.c.threads = threads;
			p.c.reference = reference ? CPL_CAMPAIGN_FIRST
			                          : CPL_CAMPAIGN_ALONE;
			p.c.keep_whole = "nosuch";
			assert_int_equal(cpl_campaign_run(&p.c, policies, 3,
			                                  p.result, &err),
			                 -1);
			if (strncmp(err.text, "policy auto: ", 13) ||
			    !strstr(err.text, "nosuch"))
				fail_msg("'%s'", err.text);
			unplay(&p);
		}
}

/* What is kept */

struct kept {
	struct played p;
	struct kinds kinds;
	uint64_t bytes[3], all; /* of the kinds' matrices */
};

static void open_kept(struct kept *k, const char *policy,
                      struct chooser *chooser)
{
	struct cpl_error err = {""};
	struct kind_traffic traffic;

	get_ready(&k->p, NULL,
	          SWF(1, 0, 9, 4, 4, -1) SWF(2, 0, 9, 8, 8, -1)
	                  SWF(3, 0, 9, 16, 16, -1),
	          "Match Pattern=pencil Share=50 RanksPerNode=4\n");
	assert_int_equal(
	        campaign_chooser(k->p.net, policy, "quick", chooser, &err), 0);
	if (campaign_kinds(&k->p.c, &k->kinds, &err))
		fail_msg("%s", err.text);
	assert_int_equal(k->kinds.n, 3);
	k->all = 0;
	for (int i = 0; i < 3; i++) {
		struct kind *kind = &k->kinds.kind[i];
		struct chooser plain = {.own = chooser->own};

		assert_int_equal(campaign_traffic_take(&k->kinds, kind, &plain,
		                                       &traffic, &err),
		                 0);
		k->all += k->bytes[i] = cpl_comm_bytes(kind->comm);
		campaign_traffic_give(&k->kinds, kind);
		campaign_traffic_drop(kind);
	}
}

static void close_kept(struct kept *k)
{
	campaign_kinds_free(&k->kinds);
	unplay(&k->p);
}

/* "0": taken, "-0": given back; then which are still there, as in "02". */
static void take_and_give(struct kept *k, const struct chooser *chooser,
                          const char *steps, const char *there)
{
	char got[4] = "";

	for (; *steps; steps++) {
		struct kind_traffic traffic;
		bool gives = *steps == '-';
		struct kind *kind;

		steps += gives;
		kind = &k->kinds.kind[*steps - '0'];
		if (gives) {
			campaign_traffic_give(&k->kinds, kind);
			continue;
		}
		assert_int_equal(campaign_traffic_take(&k->kinds, kind, chooser,
		                                       &traffic, NULL),
		                 0);
		assert_ptr_equal(traffic.comm, kind->comm);
	}
	for (int i = 0; i < 3; i++)
		if (k->kinds.kind[i].comm)
			strcat(got, (char[]){(char)('0' + i), 0});
	assert_string_equal(got, there);
}

/* Who was not taken for longest goes, but nobody that somebody has. */
static void test_oldest_goes_first(void **state)
{
	struct chooser chooser;
	struct kept k;

	open_kept(&k, "flat", &chooser);
	assert_true(k.bytes[2] < k.bytes[0] + k.bytes[1] + k.bytes[2]);
	k.p.c.kept = k.all;
	take_and_give(&k, &chooser, "0-01-12-2", "012");
	k.p.c.kept = k.all - 1;
	take_and_give(&k, &chooser, "1-1", "12");
	take_and_give(&k, &chooser, "0-0", "01");
	/* 1 is the oldest, but taken. */
	take_and_give(&k, &chooser, "1", "01");
	take_and_give(&k, &chooser, "2-2", "12");
	take_and_give(&k, &chooser, "0-0", "01");
	/* Twice taken, once given back. */
	take_and_give(&k, &chooser, "1-1", "01");
	take_and_give(&k, &chooser, "0-0", "01");
	take_and_give(&k, &chooser, "2-2", "12");
	take_and_give(&k, &chooser, "-1", "12");
	/* More than one goes where it has to be. */
	take_and_give(&k, &chooser, "01", "012");
	k.p.c.kept = k.bytes[0];
	take_and_give(&k, &chooser, "-1", "0");
	k.p.c.kept = 1;
	take_and_give(&k, &chooser, "-0", "");
	/* 0: half a gigabyte. */
	k.p.c.kept = 0;
	take_and_give(&k, &chooser, "0-01-12-2", "012");
	close_kept(&k);
}

/* What a mapper looks at counts, too, and goes with the rest. */
static void test_graphs_are_kept_too(void **state)
{
	static const struct {
		const char *policy;
		bool graph, groups;
	} row[] = {
	        {"flat", false, false},
	        {"auto", false, false},
	        {"flat+greedyallc", true, false},
	        {"auto+greedyallc", true, false},
	        {"flat+quick", true, true},
	        {"auto+quick", true, true}, /* a small job's */
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct kind_traffic traffic;
		struct chooser chooser, plain;
		struct kind *kind;
		struct kept k;
		uint64_t more;

		print_message("%s\n", row[i].policy);
		open_kept(&k, row[i].policy, &chooser);
		kind = &k.kinds.kind[0];
		for (int time = 0; time < 2; time++) {
			assert_int_equal(campaign_traffic_take(&k.kinds, kind,
			                                       &chooser,
			                                       &traffic, NULL),
			                 0);
			assert_ptr_equal(traffic.comm, kind->comm);
			assert_int_equal(traffic.graph != NULL, row[i].graph);
			assert_ptr_equal(traffic.graph, kind->graph);
			assert_int_equal(traffic.grown != NULL, row[i].groups);
			assert_int_equal(traffic.block != NULL, row[i].groups);
			if (row[i].groups)
				assert_int_equal(traffic.block->n, 4);
			campaign_traffic_give(&k.kinds, kind);
		}
		/* Who wants none is told of none. */
		plain = (struct chooser){.own = chooser.own};
		assert_int_equal(campaign_traffic_take(&k.kinds, kind, &plain,
		                                       &traffic, NULL),
		                 0);
		assert_null(traffic.graph);
		assert_null(traffic.grown);
		assert_null(traffic.block);
		campaign_traffic_give(&k.kinds, kind);
		more = k.bytes[0];
		if (row[i].graph)
			more += cpl_comm_bytes(kind->graph);
		if (row[i].groups)
			more += cpl_comm_bytes(kind->block.hosts);
		if (row[i].groups && kind->grown.n)
			more += cpl_comm_bytes(kind->grown.hosts) +
			        (uint64_t)kind->ranks * sizeof(int);
		/* To the byte. */
		for (int less = 0; less < 2; less++) {
			k.p.c.kept = more - (uint64_t)less;
			assert_int_equal(campaign_traffic_take(&k.kinds, kind,
			                                       &chooser,
			                                       &traffic, NULL),
			                 0);
			campaign_traffic_give(&k.kinds, kind);
			assert_int_equal(kind->comm != NULL, !less);
		}
		assert_null(kind->graph);
		assert_false(kind->has_grown);
		assert_int_equal(kind->grown.n, 0);
		assert_int_equal(kind->block.n, 0);
		close_kept(&k);
	}
}

/* Of a large job the default mapper, in a decision, looks at no graph: its
 * groups are grown. All others do. */
static void test_graphs_of_large_jobs(void **state)
{
	static const struct {
		const char *policy;
		bool graph, groups;
	} row[] = {
	        {"auto", false, false},
	        {"flat", false, false},
	        {"auto+quick", false, true},
	        {"flat+quick", true, true},
	        {"auto+greedyallc", true, false},
	        {"flat+greedyallc", true, false},
	};

	for (size_t i = 0; i < 2 * sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct kind_traffic traffic;
		struct chooser chooser;
		struct kinds kinds;
		struct played p;

		print_message("%s\n", row[i / 2].policy);
		get_ready(&p, NULL, SWF(1, 0, 9, 16, 16, -1),
		          i % 2 ? "Match Signature=halo RanksPerNode=40\n"
		                : "Match Pattern=pencil Share=50 "
		                  "RanksPerNode=40\n");
		if (i % 2)
			p.signature[0] = halo_of(640);
		assert_int_equal(campaign_kinds(&p.c, &kinds, &err), 0);
		assert_int_equal(campaign_chooser(p.net, row[i / 2].policy,
		                                  "quick", &chooser, &err),
		                 0);
		assert_int_equal(campaign_traffic_take(&kinds, kinds.kind,
		                                       &chooser, &traffic,
		                                       &err),
		                 0);
		assert_int_equal(traffic.graph != NULL, row[i / 2].graph);
		assert_int_equal(kinds.kind->graph != NULL, row[i / 2].graph);
		assert_int_equal(kinds.kind->has_grown, row[i / 2].groups);
		assert_int_equal(traffic.block != NULL, row[i / 2].groups);
		campaign_traffic_give(&kinds, kinds.kind);
		campaign_kinds_free(&kinds);
		cpl_signature_free(p.signature[0]);
		unplay(&p);
	}
}

/* A signature is no pattern: both ways are added up for its groups, which are
 * those of the mapper. */
static void test_groups_of_a_signature(void **state)
{
	struct cpl_error err = {""};
	struct kind_traffic traffic;
	struct chooser chooser;
	struct kinds kinds;
	struct played p;

	get_ready(&p, NULL, kinds_log, kinds_map);
	p.signature[1] = halo();
	assert_int_equal(campaign_kinds(&p.c, &kinds, &err), 0);
	assert_int_equal(
	        campaign_chooser(p.net, "auto+quick", "quick", &chooser, &err),
	        0);
	for (int i = 0; i < 2; i++) {
		struct kind *kind = &kinds.kind[3];

		assert_int_equal(campaign_traffic_take(&kinds, kind, &chooser,
		                                       &traffic, &err),
		                 0);
		assert_true(kind->has_grown);
		assert_int_equal(traffic.block->n, 8);
		assert_int_equal(traffic.block->hosts->ranks, 8);
		assert_ptr_equal(traffic.comm, kind->comm);
		/* Each to both sides, 10 times in 40 s. */
		assert_int_equal(traffic.comm->n_entries, 30);
		for (int e = 0; e < 30; e++)
			assert_number(traffic.comm->bytes[e], 0.25, 1e-12);
		campaign_traffic_give(&kinds, kind);
		campaign_traffic_drop(kind);
	}
	campaign_kinds_free(&kinds);
	cpl_signature_free(p.signature[1]);
	unplay(&p);
}

/* Bytes in a second of the run, time after time. */
static void test_traffic_made_again_is_the_same(void **state)
{
	struct kind_traffic traffic;
	struct chooser chooser;
	double bytes[64], all = 0;
	struct kind *kind;
	struct kept k;
	int64_t n = 0;

	open_kept(&k, "flat", &chooser);
	kind = &k.kinds.kind[0];
	for (int time = 0; time < 3; time++) {
		assert_int_equal(campaign_traffic_take(&k.kinds, kind, &chooser,
		                                       &traffic, NULL),
		                 0);
		if (!time) {
			n = traffic.comm->n_entries;
			assert_true(n == 16 * 6 && n > 64);
			n = 64;
			memcpy(bytes, traffic.comm->bytes, sizeof(bytes));
		}
		assert_memory_equal(bytes, traffic.comm->bytes, sizeof(bytes));
		for (int64_t e = 0; !time && e < traffic.comm->n_entries; e++)
			all += traffic.comm->bytes[e];
		campaign_traffic_give(&k.kinds, kind);
		if (time)
			campaign_traffic_drop(kind);
	}
	/* A megabyte each way in each of the 16 * 6 pairs, a round in
	 * `seconds`. */
	assert_number(all, 16 * 6 * 1e6 / kind->seconds, 1e-9 * all);
	close_kept(&k);
}

/* Running jobs */

#define CHAIN                                                                  \
	"{\"format\": \"commplace-network\", \"version\": 1, \"type\": "       \
	"\"torus\", \"dims\": [6], \"wrap\": [false], \"bandwidth\": "         \
	"{\"dim\": [1e9], \"injection\": 100e9}, \"nodes\": \"n[0-5]\"}"

/* Jobs on the routers of a chain, each of which sends from one to another. */
struct chain {
	struct cpl_network *net;
	struct cpl_times_space *space;
	struct cpl_comm *comm[8];
	struct cpl_phase phase[8];
	struct running_jobs jobs;
};

static void open_chain(struct chain *c)
{
	*c = (struct chain){.net = parse_network(CHAIN)};
	c->space = cpl_times_space_new(
	        c->net, cpl_routing_find(c->net, NULL, NULL), NULL);
	assert_int_equal(running_open(&c->jobs, c->net, 8, NULL), 0);
}

static void close_chain(struct chain *c)
{
	running_close(&c->jobs);
	cpl_times_space_free(c->space);
	for (int i = 0; i < 8; i++)
		cpl_comm_free(c->comm[i]);
	cpl_network_free(c->net);
}

/* Job number `job` sends so many GB from router to router in a time of the run
 * of which `share` is that; gb 0: nothing. */
static void begin(struct chain *c, int job, int from, int to, double gb,
                  double share)
{
	struct cpl_comm_entry entry = {0, 1, gb * 1e9, 1};
	struct running at = {
	        .job = job, .share = share, .stretch = 1, .reference = gb};
	int i = c->jobs.n;

	if (gb > 0) {
		c->comm[i] = cpl_comm_build(2, &entry, 1, NULL);
		c->phase[i] =
		        (struct cpl_phase){.weight = 1,
		                           .time = gb / share,
		                           .compute_time = gb / share - gb,
		                           .comm = c->comm[i]};
		at.times = cpl_times_open(&c->phase[i], 1, 2, NULL);
		assert_int_equal(cpl_times_order(at.times, NULL, 1, 2, NULL),
		                 0);
		assert_int_equal(cpl_times_place(at.times, c->space,
		                                 (const int[]){from, to}, NULL),
		                 0);
	}
	running_start(&c->jobs, &at);
}

static void test_running_by_number(void **state)
{
	static const int number[] = {5, 1, 7, 3};
	struct chain c;

	open_chain(&c);
	for (int i = 0; i < 4; i++)
		begin(&c, number[i], 0, 1, 0, 0.5);
	assert_int_equal(c.jobs.n, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(c.jobs.job[i].job, 2 * i + 1);
	running_end(&c.jobs, 1);
	running_end(&c.jobs, 2);
	assert_int_equal(c.jobs.n, 2);
	assert_int_equal(c.jobs.job[0].job, 1);
	assert_int_equal(c.jobs.job[1].job, 5);
	close_chain(&c);
}

static void test_stretches(void **state)
{
	static const struct {
		double share, seconds, reference, stretch;
	} row[] = {
	        {0.5, 30, 10, 2}, {0.25, 30, 10, 1.5}, {1, 30, 10, 3},
	        {0.5, 10, 10, 1}, {0.5, 5, 10, 0.75},  {0.5, 30, 0, 1},
	        {0, 30, 10, 1},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct running job = {.share = row[i].share,
		                      .seconds = row[i].seconds,
		                      .reference = row[i].reference};

		assert_number(running_stretch(&job), row[i].stretch, 1e-12);
	}
}

/* One without traffic, one alone on its link, two alike on another, and two
 * that are not on a third: each stretched by what the other sends, stretched as
 * it is. */
static void test_running_jobs_fit_together(void **state)
{
	static const struct {
		int from, to;
		double gb, share;
		int other; /* on its link, or -1 */
	} row[] = {
	        {0, 1, 0, 0.5, -1}, {0, 1, 2, 0.5, -1}, {1, 2, 1, 0.5, 3},
	        {1, 2, 1, 0.5, 2},  {3, 4, 1, 0.8, 5},  {3, 4, 4, 0.2, 4},
	};
	struct cpl_team *team = cpl_team_new(3, NULL);
	double first[6];

	for (int threads = 1; threads < 4; threads += 2) {
		struct chain c;

		open_chain(&c);
		for (int i = 0; i < 6; i++)
			begin(&c, i, row[i].from, row[i].to, row[i].gb,
			      row[i].share);
		running_add_rates(&c.jobs);
		/* Their own, whatever they come to. */
		assert_number(c.jobs.rates.link[0], 0.5e9, 1);
		running_judge(&c.jobs, threads > 1 ? team : NULL);
		for (int i = 0; i < 6; i++) {
			const struct running *j = &c.jobs.job[i];
			const struct running *other =
			        row[i].other < 0 ? NULL
			                         : &c.jobs.job[row[i].other];
			double u = other ? other->share / other->stretch : 0;

			assert_number(j->stretch,
			              j->times ? running_stretch(j) : 1, 1e-3);
			assert_number(j->seconds, row[i].gb * (1 + u),
			              1e-3 * row[i].gb);
			if (threads == 1)
				first[i] = j->stretch;
			else
				assert_true(first[i] == j->stretch);
		}
		/* s = 1 - 1/2 + 1/2 (1 + 1/2 / s) */
		assert_number(first[2], (1 + sqrt(2)) / 2, 1e-3);
		assert_true(first[0] == 1);
		assert_number(first[1], 1, 1e-12);
		/* What they send is over that, after the last round, too. */
		for (int64_t l = 0; l < c.net->n_links; l++) {
			double sum = 0;

			for (int i = 1; i < 6; i++)
				if (c.net->link_from[l] == row[i].from &&
				    c.net->link_to[l] == row[i].to)
					sum += row[i].share * 1e9 /
					       c.jobs.job[i].stretch;
			assert_number(c.jobs.sent.link[l], sum, 1);
		}
		close_chain(&c);
	}
	cpl_team_free(team);
}

/* 1 + u for 1: two send half and a quarter of what their link carries. */
static void test_harm_of_running(void **state)
{
	struct cpl_times_rate rate = {.rate = 0.5e9};
	struct cpl_harm *harm;
	struct chain c;

	open_chain(&c);
	begin(&c, 0, 2, 3, 0, 0.5);
	begin(&c, 1, 2, 3, 1, 0.5);
	begin(&c, 2, 2, 3, 1, 0.25);
	for (int64_t l = 0; l < c.net->n_links; l++)
		if (c.net->link_from[l] == 2 && c.net->link_to[l] == 3)
			rate.link = l;
	harm = running_harm(&c.jobs, NULL);
	assert_non_null(harm);
	assert_number(cpl_harm_by(harm, &rate, 1),
	              (1 + 0.75) / (1 + 0.25) - 1 + (1 + 1.0) / (1 + 0.5) - 1,
	              1e-9);
	assert_int_equal(cpl_harm_shared(harm, &rate, 1), 1);
	cpl_harm_free(harm);
	close_chain(&c);
}

/* What is played */

/* Runs are stretched by the study's cost over that under the first policy. */
static void test_the_studys_model(void **state)
{
	static const char *const policies[] = {"select-linear", "balanced"};
	static const char map[] = "Match Name=0 Pattern=none\n"
	                          "Match Name=1 Pattern=ring Share=40\n"
	                          "Mix Pattern=stencil-2d Share=80\n";
	char *log = many_jobs();
	int others = 0, sending = 0;
	struct played p;

	get_ready(&p, NULL, log, map);
	p.c.model = CPL_CAMPAIGN_STUDY;
	p.c.reference = CPL_CAMPAIGN_FIRST;
	p.c.study = CPL_STUDY_DOUBLING;
	play_ready(&p, policies, 2);
	for (int i = 0; i < p.log.n_jobs; i++) {
		const struct cpl_campaign_job *a = &p.result[0].job[i];
		const struct cpl_campaign_job *b = &p.result[1].job[i];
		double run = p.log.job[i].run;
		double share = !strcmp(p.log.job[i].name, "1") ? 0.4 : 0.8;
		double ratio = a->cost > 0 ? b->cost / a->cost : 1;

		if (!strcmp(p.log.job[i].name, "0") || p.log.job[i].nodes < 2)
			share = 0;
		assert_number(a->end - a->start, run, 1e-6);
		assert_number(b->end - b->start,
		              run * (1 - share + share * ratio), 1e-6);
		assert_int_equal(b->communication > 0, share > 0);
		sending += share > 0;
		assert_true(a->slowdown == 1);
		assert_number(b->slowdown, share > 0 ? ratio : 1, 1e-9);
		if (share > 0)
			assert_number(b->communication, share * run * ratio,
			              1e-6 * run);
		others += ratio != 1;
	}
	assert_true(others > 10 && sending < p.log.n_jobs);
	unplay(&p);
	free(log);
}

/* What sends nothing gets, of our policies, Slurm's own answer. */
static void test_stock_of_the_silent(void **state)
{
	static const char *const policies[] = {"flat", "tree", "auto"};
	char *log = many_jobs();
	int differ = 0;

	for (int tree = 0; tree < 2; tree++) {
		struct played p;

		get_ready(&p, NULL, log, "Match Pattern=none\n");
		p.c.stock_is_tree = tree;
		play_ready(&p, policies, 3);
		for (int i = 0; i < p.log.n_jobs; i++) {
			size_t size = (size_t)p.log.job[i].nodes * sizeof(int);

			assert_memory_equal(p.result[2].job[i].node,
			                    p.result[tree].job[i].node, size);
			differ += memcmp(p.result[0].job[i].node,
			                 p.result[1].job[i].node, size) != 0;
		}
		unplay(&p);
	}
	assert_true(differ > 0);
	free(log);
}

/* 8 nodes, 3 more from 50 s on, then these alone: of 5 free nodes one is on a
 * leaf switch with others, then of 13. */
static void test_spans(void **state)
{
	static const char *const flat[] = {"flat"};
	static const struct cpl_campaign_span want[] = {
	        {50, 0, 8 / 16.0, 0},
	        {50, 0, 11 / 16.0, 1 / 5.0},
	        {50, 0, 3 / 16.0, 1 / 13.0},
	};
	struct played p;

	get_ready(&p, NULL, SWF(1, 0, 100, 8, 8, -1) SWF(2, 50, 100, 3, 3, -1),
	          "Match Pattern=none\n");
	play_ready(&p, flat, 1);
	assert_int_equal(p.result[0].n_spans, 3);
	for (int i = 0; i < 3; i++) {
		const struct cpl_campaign_span *s = &p.result[0].span[i];

		assert_number(s->seconds, want[i].seconds, 1e-9);
		assert_number(s->busiest, 0, 0);
		assert_number(s->used, want[i].used, 1e-12);
		assert_number(s->fragmented, want[i].fragmented, 1e-12);
	}
	unplay(&p);
	/* A ring of 5 has two messages on each of its links, wherever: all of
	 * the share that communicates they are busy. */
	get_ready(&p, NULL, SWF(1, 0, 100, 5, 5, -1),
	          "Match Pattern=ring Share=40\n");
	play_ready(&p, flat, 1);
	assert_int_equal(p.result[0].n_spans, 1);
	assert_number(p.result[0].span[0].busiest, 0.4, 1e-9);
	assert_number(p.result[0].span[0].seconds, 100, 1e-6);
	assert_number(p.result[0].job[0].communication, 40, 1e-6);
	unplay(&p);
	/* All of it taken: no node is free, none is lost. */
	get_ready(&p, NULL, SWF(1, 0, 100, 16, 16, -1), "Match Pattern=none\n");
	play_ready(&p, flat, 1);
	assert_number(p.result[0].span[0].used, 1, 0);
	assert_number(p.result[0].span[0].fragmented, 0, 0);
	unplay(&p);
}

struct told {
	int64_t n, of;
};

static void tell(void *arg, int64_t done, int64_t of)
{
	struct told *told = arg;

	assert_int_equal(done, ++told->n);
	told->of = of;
}

static void test_progress(void **state)
{
	static const char *const two[] = {"flat", "tree"};
	struct told told = {0};
	struct played p;

	get_ready(&p, NULL,
	          SWF(1, 0, 10, 17, 17, -1) SWF(2, 5, 10, 16, 16, -1)
	                  SWF(3, 6, 10, 1, 1, -1),
	          "Match Pattern=none\n");
	p.c.progress = tell;
	p.c.progress_arg = &told;
	play_ready(&p, two, 2);
	assert_int_equal(told.n, 4);
	assert_int_equal(told.of, 4);
	assert_int_equal(p.result[1].too_large, 1);
	unplay(&p);
}

/* What results come to */

static void check_spread(const struct cpl_campaign_spread *s, double mean,
                         double median, double q95, double max)
{
	assert_number(s->mean, mean, 1e-12 * (1 + mean));
	assert_number(s->median, median, 0);
	assert_number(s->q95, q95, 0);
	assert_number(s->max, max, 0);
}

#define ROW(id, submit, run, nodes, name)                                      \
#id "|" #submit "|" #run "|" #nodes "|" #name "\n"

/* Five jobs by hand, of which one never ran. */
static const char by_hand[] =
        "JobID|Submit|Elapsed|NNodes|JobName\n" ROW(1, 0, 100, 4, a)
                ROW(2, 10, 5, 2, b) ROW(3, 20, 50, 8, c) ROW(4, 30, 10, 17, d)
                        ROW(5, 40, 20, 1, e);
static struct cpl_campaign_job here[] = {
        {.start = 0,
         .end = 110,
         .communication = 20,
         .slowdown = 2,
         .cost = 3,
         .interference = 0.2,
         .decision = 0.5},
        {.start = 60,
         .end = 64,
         .communication = 3,
         .slowdown = 9,
         .cost = 4,
         .interference = 0.6,
         .decision = 0.25},
        {.start = 110,
         .end = 160,
         .communication = 40,
         .slowdown = 8,
         .decision = 0.75},
        {.start = -1, .end = -1},
        {.start = 40, .end = 55, .slowdown = 1, .decision = 0.5},
};
static struct cpl_campaign_job at_first[] = {
        {.start = 0, .end = 100, .communication = 10},
        {.start = 60, .end = 68},
        {.start = 100, .end = 140, .communication = 5},
        {.start = -1, .end = -1},
        {.start = 40, .end = 55},
};
static struct cpl_campaign_span spans[] = {
        {.seconds = 10, .busiest = 0.2, .fragmented = 0.5},
        {.seconds = 30, .busiest = 0.1, .fragmented = 0},
        {.seconds = 60, .busiest = 0.4, .fragmented = 0.25},
};

static void test_summary(void **state)
{
	struct cpl_campaign_result result = {
	        .job = here, .span = spans, .n_spans = 3};
	struct cpl_campaign_result first = {.job = at_first};
	struct cpl_campaign_summary s;
	struct played p;

	get_ready(&p, NULL, by_hand, "Match Pattern=none\n");
	assert_int_equal(
	        cpl_campaign_summarise(&p.c, &result, &first, &s, NULL), 0);
	assert_int_equal(s.jobs, 4);
	assert_int_equal(s.sending, 2);
	/* 0, 0, 50, 90 */
	check_spread(&s.wait, 35, 0, 90, 90);
	/* 1.1, 54 / 10, 2.8, and 15 / 20, which is 1 */
	check_spread(&s.bounded_slowdown, (1.1 + 5.4 + 2.8 + 1) / 4, 1.1, 5.4,
	             5.4);
	check_spread(&s.decision, 0.5, 0.5, 0.75, 0.75);
	/* Over time: 0.1 for 30, 0.2 for 10, 0.4 for 60 seconds. */
	check_spread(&s.busiest, 0.29, 0.4, 0.4, 0.4);
	assert_number(s.fragmented, 0.2, 1e-12);
	assert_number(s.makespan, 160, 0);
	assert_number(s.run, 110 + 4 + 50 + 15, 1e-12);
	assert_number(s.node_seconds, 440 + 8 + 400 + 15, 1e-12);
	assert_number(s.utilisation, 863.0 / (16 * 160), 1e-12);
	assert_number(s.useful, (400 + 10 + 400 + 20) / (16.0 * 160), 1e-12);
	assert_number(s.communication, 60, 1e-12);
	/* 2 and 8, of both. */
	assert_number(s.communication_ratio, 4, 1e-12);
	assert_number(s.slowdown, 4, 1e-12);
	assert_number(s.cost, 7, 1e-12);
	assert_number(s.interference, 0.2, 1e-12);
	unplay(&p);
}

/* 20 values: the nineteenth is that of 95 %. */
static void test_percentiles(void **state)
{
	struct cpl_campaign_job job[20] = {{0}};
	struct cpl_campaign_result result = {.job = job};
	struct cpl_campaign_summary s;
	char text[20 * 40] = "JobID|Submit|Elapsed|NNodes\n";
	struct played p;

	for (int i = 0; i < 20; i++) {
		sprintf(text + strlen(text), "%d|0|100|1\n", i + 1);
		job[i] = (struct cpl_campaign_job){.start = (19 - i) * 10,
		                                   .end = 1000};
	}
	get_ready(&p, NULL, text, "Match Pattern=none\n");
	assert_int_equal(
	        cpl_campaign_summarise(&p.c, &result, &result, &s, NULL), 0);
	check_spread(&s.wait, 95, 90, 180, 190);
	/* Nothing was sent, no time has passed. */
	assert_number(s.communication_ratio, 1, 0);
	assert_number(s.slowdown, 1, 0);
	assert_number(s.fragmented, 0, 0);
	check_spread(&s.busiest, 0, 0, 0, 0);
	unplay(&p);
}

/* Rules of one class count together; who never ran, and classes without
 * anybody, do not. */
static void test_classes(void **state)
{
	static const struct cpl_campaign_class want[] = {
	        {"x", 2, 2, 160.0 / 140, 4, 45},
	        {"y", 1, 0, 0.5, 1, 50},
	        {"none", 1, 0, 1, 1, 0},
	};
	struct cpl_campaign_result result = {.job = here};
	struct cpl_campaign_result first = {.job = at_first};
	struct cpl_campaign_class *class;
	struct played p;
	int n = 0;

	get_ready(&p, NULL, by_hand,
	          "Match Name=a Pattern=ring Class=x\n"
	          "Match Name=d Pattern=ring Class=z\n"
	          "Match Name=b Pattern=ring Class=y\n"
	          "Match Name=c Pattern=ring Class=x\n");
	class = cpl_campaign_classes(&p.c, &result, &first, &n, NULL);
	assert_non_null(class);
	assert_int_equal(n, 3);
	for (int i = 0; i < n; i++) {
		assert_string_equal(class[i].name, want[i].name);
		assert_int_equal(class[i].jobs, want[i].jobs);
		assert_int_equal(class[i].sending, want[i].sending);
		assert_number(class[i].run_ratio, want[i].run_ratio, 1e-12);
		assert_number(class[i].communication_ratio,
		              want[i].communication_ratio, 1e-12);
		assert_number(class[i].wait, want[i].wait, 1e-12);
	}
	free(class);
	unplay(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_names_of_policies),
	        cmocka_unit_test(test_kinds),
	        cmocka_unit_test(test_kinds_in_order),
	        cmocka_unit_test(test_kinds_that_cannot_be_made),
	        cmocka_unit_test(test_decisions_that_fail),
	        cmocka_unit_test(test_oldest_goes_first),
	        cmocka_unit_test(test_graphs_are_kept_too),
	        cmocka_unit_test(test_graphs_of_large_jobs),
	        cmocka_unit_test(test_groups_of_a_signature),
	        cmocka_unit_test(test_traffic_made_again_is_the_same),
	        cmocka_unit_test(test_running_by_number),
	        cmocka_unit_test(test_stretches),
	        cmocka_unit_test(test_running_jobs_fit_together),
	        cmocka_unit_test(test_harm_of_running),
	        cmocka_unit_test(test_the_studys_model),
	        cmocka_unit_test(test_stock_of_the_silent),
	        cmocka_unit_test(test_spans),
	        cmocka_unit_test(test_progress),
	        cmocka_unit_test(test_summary),
	        cmocka_unit_test(test_percentiles),
	        cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
