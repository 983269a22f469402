/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a campaign's policies, kinds of jobs, and what is kept of them. */
#include "commplace-config.h"

#include "unit.h"

#include "campaign/campaign_internal.h"
#include "campaign_cases.h"
#include "mapping/mappers.h"
#include "number.h"

#define NAMES                                                                  \
	"none of flat, tree, tree-rank, select-linear, greedy, balanced, "     \
	"adaptive, blind, leftovers, site, and "

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
		const struct cpl_wish wish = {
		        .mapper = cpl_mapper_find(row[i].mapping, NULL)};
		int rc = campaign_chooser(net, row[i].name, &wish, &chooser,
		                          &err);

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
		assert_int_equal(chooser.wish.mapper != NULL,
		                 row[i].mapper != NULL);
		if (row[i].mapper)
			assert_string_equal(chooser.wish.mapper->name,
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
		assert_int_equal(campaign_kinds(&p.c, 0, &kinds, &err), 0);
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
	assert_int_equal(campaign_kinds(&p.c, 0, &kinds, &err), 0);
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
			p.c.wish.objective = CPL_OBJECTIVE_LEARNED;
			assert_int_equal(cpl_campaign_run(&p.c, policies, 3,
			                                  p.result, &err),
			                 -1);
			if (strncmp(err.text, "policy auto: ", 13) ||
			    !strstr(err.text, "objective learned"))
				fail_msg("'%s'", err.text);
			unplay(&p);
		}
}

/* What is kept */

static const struct cpl_wish quick_is_meant = {.mapper = &cpl_mapper_quick};

struct kept {
	struct played p;
	struct kinds kinds;
	uint64_t bytes[3], all; /* of the kinds' matrices; with what hosts send */
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
	assert_int_equal(campaign_chooser(k->p.net, policy, &quick_is_meant,
	                                  chooser, &err),
	                 0);
	if (campaign_kinds(&k->p.c, 0, &k->kinds, &err))
		fail_msg("%s", err.text);
	assert_int_equal(k->kinds.n, 3);
	assert_true(k->kinds.blocks > 0);
	k->all = k->kinds.blocks;
	for (int i = 0; i < 3; i++) {
		struct kind *kind = &k->kinds.kind[i];
		struct chooser plain = {.own = chooser->own};

		assert_int_equal(campaign_traffic_take(&k->kinds, kind, &plain,
		                                       &traffic, &err),
		                 0);
		k->all += k->bytes[i] = cpl_comm_bytes(kind->comm);
		campaign_traffic_give(&k->kinds, kind);
		campaign_traffic_drop(kind);
		kind->kept = 0;
	}
	k->kinds.kept = 0;
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
	k.p.c.kept = k.kinds.blocks + k.bytes[0];
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
		more = k.kinds.blocks + k.bytes[0];
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
		assert_int_equal(campaign_kinds(&p.c, 0, &kinds, &err), 0);
		assert_int_equal(campaign_chooser(p.net, row[i / 2].policy,
		                                  &quick_is_meant, &chooser,
		                                  &err),
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
	assert_int_equal(campaign_kinds(&p.c, 0, &kinds, &err), 0);
	assert_int_equal(campaign_chooser(p.net, "auto+quick", &quick_is_meant,
	                                  &chooser, &err),
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
