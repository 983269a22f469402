/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions remembered, cut by the clock, and the time of a pass. */
#include "engine_fixture.h"

#include "mapping/quick.h"

static uint64_t hits, misses;

/* How the last call came by its decision: 'h' out of memory, 'm' made. */
static char memo(void)
{
	uint64_t hit = engine->clerk.counters.count[CPL_COUNT_CACHE_HIT] - hits;
	uint64_t miss =
	        engine->clerk.counters.count[CPL_COUNT_CACHE_MISS] - misses;

	hits += hit;
	misses += miss;
	assert_int_equal(hit + miss, 1);
	return hit ? 'h' : 'm';
}

static int as_asked(struct cpl_engine_request *req, int *host)
{
	assert_int_equal(ask(req), CPL_ENGINE_PLACED);
	memcpy(host, fake.host, (size_t)fake.n_host * sizeof(int));
	return fake.n_host;
}

/* Fault 7: what was decided is decided again only after something changed. */
static void test_decisions_are_remembered(void **state)
{
	struct cpl_engine_request req = request(70, "a8", "auto", 4);
	struct cpl_engine_request wish = request(71, "a8", "traffic", 4);
	struct cpl_engine_notice notice;
	int one[HOSTS], two[HOSTS], required = 17;

	hits = misses = 0;
	all_free();
	req.start = false;
	as_asked(&req, one);
	assert_int_equal(memo(), 'm');
	/* A test, then the start, and another job of the same kind. */
	req.start = true;
	assert_int_equal(as_asked(&req, two), 4);
	assert_int_equal(memo(), 'h');
	assert_memory_equal(one, two, 4 * sizeof(int));
	req.job.id = 72;
	as_asked(&req, two);
	assert_int_equal(memo(), 'h');
	/* Another policy, number of nodes, wish of nodes, or free host. */
	as_asked(&wish, two);
	assert_int_equal(memo(), 'm');
	wish.need.min_nodes = wish.need.max_nodes = 5;
	as_asked(&wish, two);
	assert_int_equal(memo(), 'm');
	req.required = &required;
	req.n_required = 1;
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	req.n_required = 0;
	fake.cpus[31] = 0;
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	fake.cpus[31] = 4;
	as_asked(&req, two);
	assert_int_equal(memo(), 'h');
	assert_memory_equal(one, two, 4 * sizeof(int));
	/* A job that begins changes the background, and one that ends. */
	fake_begin(engine, 72, &fake, &notice);
	req.job.id = 73;
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	cpl_engine_suspended(engine, 72, true);
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	cpl_engine_suspended(engine, 72, false);
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	cpl_engine_end(engine, 72);
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	assert_memory_equal(one, two, 4 * sizeof(int));
	/* One that put nothing on the links leaves it as it was. */
	fake_begin(engine, 73, &fake, &notice);
	cpl_engine_end(engine, 73);
	req.job.id = 74;
	as_asked(&req, two);
	assert_int_equal(memo(), 'h');
	/* So does another configuration. */
	config("Objective=hop-bytes");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
}

static bool at_once(void *arg)
{
	return true;
}

/* Fault: what the clock cut was the answer for as long as the machine was the
 * same. */
static void test_cut_decisions_are_made_again(void **state)
{
	struct cpl_engine_request req = request(77, "a8", "auto", 4);
	unsigned char is_free[HOSTS];
	struct cpl_profile *profile;
	struct cpl_error err = {""};

	hits = misses = 0;
	all_free();
	ask(&req);
	profile = engine->desk.decided->profile;
	memset(is_free, 1, sizeof(is_free));
	struct cpl_decide_request core = {
	        .place = {.net = engine->desk.snapshot->net,
	                  .free = is_free,
	                  .n_nodes_wanted = 4},
	        .wish.policy = &cpl_placement_auto,
	        .routing = engine->desk.snapshot->routing,
	        .comm = profile->comm,
	        .ranks_per_node = 2,
	        .wish.mapper = &cpl_mapper_quick,
	        .expired = at_once,
	};
	memo();
	assert_true(engine_memo_decide(&engine->desk, &engine->ledger, &core,
	                               profile, &err)
	                    ->cut_short);
	assert_int_equal(memo(), 'm');
	core.expired = NULL;
	assert_false(engine_memo_decide(&engine->desk, &engine->ledger, &core,
	                                profile, &err)
	                     ->cut_short);
	assert_int_equal(memo(), 'm');
	core.expired = at_once;
	assert_false(engine_memo_decide(&engine->desk, &engine->ledger, &core,
	                                profile, &err)
	                     ->cut_short);
	assert_int_equal(memo(), 'h');
}

static size_t memo_bytes(int *n)
{
	size_t bytes = 0;

	*n = 0;
	for (struct memo *m = engine->desk.memo; m;
	     m = engine_memo_next(m, &bytes))
		++*n;
	return bytes;
}

/* However many different decisions there are. */
static void test_what_is_remembered_is_bounded(void **state)
{
	struct cpl_engine_request req = request(80, "a8", "auto", 2);
	int n;

	for (int i = 0; i < 300; i++) {
		all_free();
		for (int k = 0; k < 8; k++)
			fake.cpus[k] = i >> k & 1 ? 4 : 0;
		fake.cpus[8] = i >> 8 ? 4 : 0;
		fake.wanted = 2;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	}
	assert_true(memo_bytes(&n) < (size_t)9 << 20);
	assert_int_equal(n, 64);
}

/* So are the groups of ranks that share a host: those of the last few kinds of
 * jobs. */
static void test_groups_that_are_kept(void **state)
{
	const int first = 17, last = first + ENGINE_GROUPS + 3;
	int seen[HOSTS + 1] = {0};

	profile("ring", 512, 3);
	for (int n = first; n <= last; n++) {
		struct cpl_engine_request req = request(n, "ring", "linear", n);

		all_free();
		fake.wanted = n;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_true(cpl_engine_idle(engine, WAIT_MS));
	}
	for (int i = 0; i < ENGINE_GROUPS; i++)
		seen[engine->desk.groups[i].n_hosts]++;
	for (int n = first; n <= last; n++)
		assert_int_equal(seen[n], n > last - ENGINE_GROUPS);
}

/* Fault 7: calls that have used up their time leave the next ones to the
 * scheduler, until the pass is over. */
static void test_time_of_a_pass(void **state)
{
	struct cpl_engine_request req = request(60, "a8", "auto", 4);
	struct cpl_engine_notice notice;

	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_true(engine->desk.spent > 0);
	/* What the scheduler takes itself is not ours. */
	all_free();
	fake.place_us = 50000;
	engine->desk.spent = 0;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_true(engine->desk.spent < 50 * INT64_C(1000000));
	fake.place_us = 0;
	/* MaxDecisionTime=20s, which is more than MaxPassTime. */
	engine->desk.spent = 20 * INT64_C(1000000000);
	all_free();
	fake.wanted = 4;
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_int_equal(fake.placed, 0);
	fake_begin(engine, 60, &fake, &notice);
	assert_non_null(strstr(notice.text, "stock (no time is left of "
	                                    "MaxPassTime)"));
	cpl_engine_end(engine, 60);
	/* Neither is a fault, nor is one that begins without its order. */
	engine->desk.spent = 0;
	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	engine->desk.decided->mapped = false;
	engine->desk.spent = 20 * INT64_C(1000000000);
	fake_begin(engine, 60, &fake, &notice);
	cpl_engine_end(engine, 60);
	assert_non_null(strstr(logged, "ranks of job 60 are not mapped: no "
	                               "time is left of MaxPassTime"));
	assert_null(strstr(logged, "error: "));
	engine->desk.spent = 20 * INT64_C(1000000000);
	engine->desk.pass -= ENGINE_PASS_NS;
	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_true(engine->desk.spent < 20 * INT64_C(1000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_decisions_are_remembered),
	        T(test_what_is_remembered_is_bounded),
	        T(test_cut_decisions_are_made_again),
	        T(test_groups_that_are_kept),
	        T(test_time_of_a_pass),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
