/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which hosts the engine chooses among, and which decision a job begins with. */
#include "engine_fixture.h"

#include <limits.h>

#include "mapping/quick.h"

static bool is_kept(int64_t id)
{
	for (struct decided *d = engine->desk.decided; d; d = d->next)
		if (d->record->job == id)
			return d->record->ranks == 8;
	return false;
}

/* No more than the limit is kept of jobs that never start. */
static void test_decisions_that_are_not_used(void **state)
{
	struct cpl_engine_allocation got = {.id = 5000,
	                                    .array_id = 11,
	                                    .shown_as = "11_3",
	                                    .host = fake.host,
	                                    .layout = fake_layout,
	                                    .arg = &fake.n_host};
	struct cpl_engine_notice notice;

	all_free();
	for (int64_t id = 1; id <= CPL_ENGINE_DECIDED_MAX + 10; id++) {
		struct cpl_engine_request req = request(id, "a8", "linear", 4);

		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	}
	assert_false(is_kept(10));
	assert_true(is_kept(11));
	/* An element of a job array that got an id of its own. */
	got.n_hosts = fake.n_host;
	cpl_engine_start(engine, &got, &notice);
	assert_string_not_equal(notice.text, "");
	assert_false(is_kept(11));
	assert_true(has_layout(5000));
	assert_string_equal(
	        engine_running_find(&engine->ledger, 5000)->record->shown_as,
	        "11_3");
	assert_true(is_kept(12));
	cpl_engine_end(engine, 12);
	assert_false(is_kept(12));
}

/* fault 17: what was decided for a job counts only for the hosts it was
 * decided for, and only once. */
static void test_what_begins_elsewhere_is_not_what_was_decided(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "linear", 4);
	struct cpl_engine_notice notice;

	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	fake.host[3]++;
	fake_begin(engine, 1, &fake, &notice);
	assert_string_equal(notice.text, "");
	assert_false(has_layout(1));
	fake.host[3]--;
	fake_begin(engine, 1, &fake, &notice);
	assert_string_equal(notice.text, "");
	/* Asked again, and then it is none of ours: nothing is left over. */
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	req.job.profile = req.job.policy = NULL;
	assert_int_equal(ask(&req), CPL_ENGINE_NONE);
	fake_begin(engine, 1, &fake, &notice);
	assert_string_equal(notice.text, "");
	/* A question only: not what a job begins on. */
	req = request(2, "a8", "linear", 4);
	req.start = false;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	fake_begin(engine, 2, &fake, &notice);
	assert_string_equal(notice.text, "");
}

/* fault 12: hosts that turn out useless are left out, a few times. */
static void test_refused_hosts_are_left_out(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "random-groups", 4);

	all_free();
	for (int i = 0; i < HOSTS; i += 2)
		fake.useless[i] = true;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.narrowed, 1);
	assert_int_equal(fake.n_host, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fake.host[i] % 2, 1);
	/* Also the last ones of many. */
	all_free();
	for (int i = 0; i < HOSTS - 8; i++)
		fake.cpus[i] = 0;
	fake.useless[HOSTS - 8] = true;
	req.job.policy = "linear";
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.host[0], HOSTS - 7);
	/* None can serve: it is tried no more than that. */
	all_free();
	fake.wanted = 4;
	fake.refuse_below = HOSTS + 1;
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	/* Nothing else is there to try. */
	assert_int_equal(fake.placed, 1);
	assert_int_equal(fake.stocked, 1);
	assert_non_null(strstr(record()->reason, "refused"));
	/* Nor are hosts lost that were not free. */
	for (int i = HOSTS - 8; i < HOSTS; i++)
		fake.cpus[i] = 0;
	fake.placed = 0;
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_int_equal(fake.placed, 1);
}

/* Of a partition's hosts, which are between two others, the same ones are chosen as
 * when all hosts are looked at: of one weight, and of two. A host outside of them that
 * must be among the job's is none that it can have. */
static void test_hosts_of_a_partition(void **state)
{
	const struct cpl_engine_span part = {9, 17};

	for (int weights = 1; weights <= 2; weights++) {
		struct cpl_engine_request req = request(1, "a8", "auto", 4);
		const int outside = 20;
		int alone[4];

		all_free();
		for (int i = 0; i < HOSTS; i++) {
			fake.cpus[i] = i < part.first || i >= part.end
			                       ? 0
			                       : fake.cpus[i];
			fake.rank[i] = (uint64_t)(i % weights);
		}
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_int_equal(fake.n_host, 4);
		memcpy(alone, fake.host, sizeof(alone));
		fake.span = part;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_int_equal(fake.n_host, 4);
		assert_memory_equal(fake.host, alone, sizeof(alone));
		fake.wanted = 4;
		req.required = &outside;
		req.n_required = 1;
		assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
		assert_non_null(strstr(record()->reason, "required"));
	}
}

/* The same table of hosts again is no news. */
static void test_unknown_hosts_are_told_once(void **state)
{
	const char *name[] = {"n0", "login", "n1"};
	const char *line;

	logged[0] = '\0';
	for (int i = 0; i < 2; i++)
		assert_int_equal(cpl_engine_set_hosts(engine, name, 3, NULL),
		                 0);
	line = strstr(logged, "nodes of the scheduler that the network does "
	                      "not have: 1 (login)");
	assert_non_null(line);
	assert_null(strstr(line + 1, "nodes of the scheduler"));
	/* As many, of which one has another name. */
	name[2] = "n2";
	assert_int_equal(cpl_engine_set_hosts(engine, name, 3, NULL), 0);
	assert_string_equal(engine->desk.host_name[2], "n2");
}

/* fault 11: sized by its CPUs, a job refused on a few hosts gets more. */
static void test_more_hosts_after_a_refusal(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "linear", 2);

	all_free();
	req.need = (struct cpl_need){
	        .min_nodes = 1, .max_nodes = 500000, .nodes = 1, .cpus = 8};
	fake.refuse_below = 4;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.n_host, 4);
	assert_int_equal(fake.placed, 3);
	assert_int_equal(record()->nodes_wanted, 4);
	assert_int_equal(record()->ranks_per_node, 2);
}

/* -N3 -n8 where nodes are shared: what holds the job together is enough, and the
 * first that is chosen is taken. */
static void test_hosts_of_uneven_shares(void **state)
{
	static const struct {
		int large;         /* hosts of 4 CPUs, 10 and on */
		int n_required;    /* of required, */
		int required[3];   /* by the user */
		uint32_t own_cpus; /* free on these; 2 on the others */
		const char *must;  /* NULL: the stock answer */
	} row[] = {
	        {1, 0, {0}, 0, "n10"},
	        /* One of 4 is enough: the first. */
	        {2, 0, {0}, 0, "n10"},
	        /* An even share of three: any of them. */
	        {4, 0, {0}, 0, ""},
	        {2, 1, {5}, 2, "n[5,10]"},
	        /* Both of 4 with one that has no more than a CPU. */
	        {2, 1, {5}, 1, "n[5,10-11]"},
	        {1, 2, {5, 20}, 2, "n[5,20,10]"},
	        {1, 1, {5}, 1, NULL},
	        {0, 0, {0}, 0, NULL},
	};

	for (size_t k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
		struct cpl_engine_request req =
		        request(60 + (int64_t)k, "a8", "random-groups", 3);

		all_free();
		fake.wanted = 3;
		fake.in_all = req.need.cpus = 8;
		for (int i = 0; i < HOSTS; i++)
			fake.cpus[i] = i < 10 || i >= 10 + row[k].large ? 2 : 4;
		for (int i = 0; i < row[k].n_required; i++)
			fake.cpus[row[k].required[i]] = row[k].own_cpus;
		req.required = row[k].required;
		req.n_required = row[k].n_required;
		if (!row[k].must) {
			assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
			assert_true(fake.placed <= 1);
			continue;
		}
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_int_equal(fake.placed, 1);
		assert_int_equal(fake.n_host, 3);
		assert_string_equal(record()->required_hosts, row[k].must);
	}
}

/* faults 10 and 13: hosts of lower ranks are filled first. */
static void test_lower_ranks_are_filled_first(void **state)
{
	static const struct {
		int cheap;    /* hosts from 10 on, of rank 1 */
		int dear;     /* host of rank 9, -1: none; the others have 5 */
		int required; /* host, -1: none */
		int want;     /* of the four that must be cheap */
	} table[] = {
	        {4, -1, -1, 4},
	        {6, -1, -1, 4},
	        /* Too few: these all, and one of the next rank. */
	        {3, 0, -1, 3},
	        {1, 0, -1, 1},
	        /* The user's own come before them. */
	        {3, -1, 0, 3},
	        {3, 0, 0, 3},
	};

	for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++) {
		struct cpl_engine_request req =
		        request(1, "a8", "random-groups", 4);
		int cheap = 0, required = table[k].required;
		bool has_required = required < 0;

		all_free();
		for (int i = 0; i < HOSTS; i++)
			fake.rank[i] = i == table[k].dear ? 9 : 5;
		for (int i = 10; i < 10 + table[k].cheap; i++)
			fake.rank[i] = 1;
		req.required = &required;
		req.n_required = required >= 0;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_int_equal(fake.n_host, 4);
		for (int i = 0; i < 4; i++) {
			cheap += fake.rank[fake.host[i]] == 1;
			has_required |= fake.host[i] == required;
			assert_true(fake.rank[fake.host[i]] < 9 ||
			            fake.host[i] == required);
		}
		assert_int_equal(cheap, table[k].want);
		assert_true(has_required);
		/* From one state always one answer, and it can be repeated. */
		assert_int_equal(record()->required_hosts[0] != '\0',
		                 table[k].cheap < 4 || required >= 0);
	}
	/* Refused there: no rank counts any more. */
	all_free();
	for (int i = 0; i < HOSTS; i++)
		fake.rank[i] = i >= 10;
	for (int i = 0; i < 10; i++)
		fake.useless[i] = true;
	struct cpl_engine_request req = request(1, "a8", "random-groups", 4);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	for (int i = 0; i < 4; i++)
		assert_true(fake.host[i] >= 10);
	assert_int_equal(fake.narrowed, 0);
	/* The user's are as good as those filled first. */
	all_free();
	for (int i = 0; i < HOSTS; i++)
		fake.rank[i] = i >= 3;
	int two[] = {20, 21};
	req.required = two;
	req.n_required = 2;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.host[2], 20);
	assert_int_equal(fake.host[3], 21);
}

/* Rules that ask for the number of nodes, which a look at the free ones tells;
 * and the values of a rule that a decision follows. */
static void test_rules_of_sizes(void **state)
{
	static const struct {
		const char *rules;
		int nodes;
		const char *policy, *objective;
	} row[] = {
	        {"Match Nodes=4 DefaultPolicy=random-nodes Objective=hop-bytes",
	         4, "random-nodes", "hop-bytes"},
	        {"Match Nodes=5- DefaultPolicy=random-nodes", 4, NULL, NULL},
	        {"DefaultPolicy=linear\nMatch Nodes=2-3 DefaultPolicy=none", 3,
	         NULL, NULL},
	        {"DefaultPolicy=linear\nMatch Nodes=2-3 DefaultPolicy=none", 4,
	         "linear", "max-congestion"},
	        {"Match Account=a QOS=b* DefaultPolicy=RRN", 4,
	         "round-robin-nodes", "max-congestion"},
	        {"Match Account=a QOS=c DefaultPolicy=RRN", 4, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_engine_request req =
		        request(1, NULL, NULL, row[i].nodes);

		config(row[i].rules);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		all_free();
		fake.wanted = row[i].nodes;
		req.job.account = "a";
		req.job.qos = "b1";
		assert_int_equal(ask(&req) == CPL_ENGINE_PLACED,
		                 row[i].policy != NULL);
		if (!row[i].policy)
			continue;
		assert_string_equal(record()->policy, row[i].policy);
		assert_string_equal(record()->objective, row[i].objective);
	}
}

/* What is kept whole, what is broken and what that costs is on record; units
 * that the network has not are said and not kept. */
static void test_units_are_kept(void **state)
{
	static const struct {
		const char *lines, *units;
		int price;
	} row[] = {
	        {"", NULL, 0},
	        {"KeepWhole=group KeepWholePrice=1000", "group", 1000},
	        {"KeepWhole=group", "group", 100},
	        {"KeepWhole=none\nMatch JobName=* KeepWhole=3 "
	         "KeepWholePrice=0",
	         "3", 0},
	        {"KeepWhole=board", NULL, 0},
	};
	struct cpl_engine_request req;
	int broken[5];

	for (int k = 0; k < 5; k++) {
		const struct cpl_record_candidate *taken = NULL;
		const struct cpl_record *r;
		int n_made = 0, best = INT_MAX;

		all_free();
		/* Holes in the first groups: the others are whole. */
		fake.cpus[1] = fake.cpus[9] = 0;
		logged[0] = '\0';
		config(row[k].lines);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		assert_int_equal(!strstr(logged, "commplace.conf:5: KeepWhole: "
		                                 "this network has no units "
		                                 "'board'"),
		                 k != 4);
		/* Again: from memory. */
		for (int i = 0; i < 2; i++) {
			req = request(40, "b16", "auto", 6);
			req.job.name = "a";
			assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		}
		r = record();
		assert_int_equal(!r->keep_whole, !row[k].units);
		if (row[k].units)
			assert_string_equal(r->keep_whole, row[k].units);
		assert_int_equal(r->keep_price, row[k].price);
		for (int i = 0; i < r->n_candidates; i++) {
			const struct cpl_record_candidate *c = &r->candidate[i];

			n_made += !strcmp(c->policy, "keep-whole");
			if (!strcmp(c->policy, r->policy) && c->seed == r->seed)
				taken = c;
			if (c->mapped && c->broken < best)
				best = c->broken;
		}
		assert_int_equal(n_made, row[k].units != NULL);
		assert_non_null(taken);
		assert_int_equal(taken->broken, r->broken);
		assert_true(r->best_broken >= r->broken);
		assert_true(r->price <= row[k].price / 100.0 * (1 + 1e-9));
		if (k == 1)
			assert_int_equal(r->broken, best);
		assert_int_equal(!r->best_policy, !row[k].units);
		broken[k] = r->broken;
	}
	assert_int_equal(broken[1], 0);
	assert_true(broken[3] >= broken[1]);
}

/* Faults 7 and 36: the scheduler's own choice is asked for where few hosts are
 * free, and not at all where the site wants none of it. */
static void test_compare_nodes(void **state)
{
	static const struct {
		const char *config;
		int compared;
	} row[] = {
	        {"", 1},
	        {"CompareNodes=32", 1},
	        {"CompareNodes=31", 0},
	        {"CompareNodes=0", 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_engine_request req =
		        request(50 + (int64_t)i, "a8", "auto", 4);

		config(row[i].config);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		all_free();
		fake.wanted = 4;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_int_equal(fake.compared, row[i].compared);
		assert_int_equal(fake.stocked, 0);
		assert_true(fake.over);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_decisions_that_are_not_used),
	        T(test_what_begins_elsewhere_is_not_what_was_decided),
	        T(test_refused_hosts_are_left_out),
	        T(test_hosts_of_a_partition),
	        T(test_unknown_hosts_are_told_once),
	        T(test_more_hosts_after_a_refusal),
	        T(test_hosts_of_uneven_shares),
	        T(test_lower_ranks_are_filled_first),
	        T(test_rules_of_sizes),
	        T(test_units_are_kept),
	        T(test_compare_nodes),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
