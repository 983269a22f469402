/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that run out of time, and what users have of a pass, by a clock that
 * goes on by a tick with each look at it. */
#include "engine_fixture.h"

#define MS INT64_C(1000000)

static pthread_t caller;
static int64_t tick, stands;

int64_t __real_cpl_now(void);
int64_t __wrap_cpl_now(void);

/* To threads of the engine it is the machine's. */
int64_t __wrap_cpl_now(void)
{
	if (!tick || !pthread_equal(pthread_self(), caller))
		return __real_cpl_now();
	stands += tick;
	return stands;
}

/* A pass begins. */
static void set_tick(int64_t ns)
{
	stands = __real_cpl_now() + ENGINE_PASS_NS;
	tick = ns;
}

/* The default times of a site but for this line, and profiles in memory. */
static void begin_with(const char *line)
{
	char text[256];
	int rc = -1;

	caller = pthread_self();
	set_tick(0);
	snprintf(text, sizeof(text),
	         "NetworkFile=%s/network.json\nProfileDir=%s\n"
	         "StateDir=%s/state\n%s\n",
	         dir, dir, dir, line);
	put("commplace.conf", text);
	/* On a busy machine the worker may need more than a call may take. */
	for (int i = 0; i < 100 && rc; i++)
		rc = cpl_engine_load(engine, WAIT_MS, NULL);
	assert_int_equal(rc, 0);
	all_free();
}

static void begin(void)
{
	begin_with("");
}

/* Has the job's profile come? */
static void warm(const char *name, int nodes)
{
	struct cpl_engine_request req = request(1, name, "auto", nodes);

	for (int i = 0; i < 100; i++) {
		all_free();
		fake.wanted = nodes;
		engine->desk.spent = 0;
		engine->desk.n_shares = 0;
		ask(&req);
		assert_true(cpl_engine_idle(engine, WAIT_MS));
		if (record()->ranks)
			break;
	}
	cpl_engine_end(engine, 1);
}

/* Fault: one user's jobs with a slow mapper took the time of a pass from all
 * others. */
static void test_users_have_shares(void **state)
{
	int stock = 0;

	begin();
	warm("b16", 4);
	warm("a8", 2);
	set_tick(MS / 5);
	for (int i = 0; i < 40; i++) {
		struct cpl_engine_request req =
		        request(100 + i, "b16", "auto", 4);

		req.job.uid = 1;
		req.job.has_uid = true;
		req.job.mapping = "best";
		stock += ask(&req) == CPL_ENGINE_STOCK;
	}
	assert_true(stock > 10 && stock < 40);
	assert_true(engine->desk.spent < 300 * MS);
	for (int i = 0; i < 5; i++) {
		struct cpl_engine_request req =
		        request(200 + i, "a8", "auto", 2);

		req.job.uid = 2;
		req.job.has_uid = true;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	}
}

/* Users one after the other leave a part for small jobs. */
static void test_small_jobs_have_a_reserve(void **state)
{
	struct cpl_engine_request req = request(300, "a8", "auto", 2);

	begin();
	warm("b16", 4);
	warm("a8", 2);
	set_tick(MS / 5);
	for (int i = 0; i < 22; i++) {
		struct cpl_engine_request large =
		        request(100 + i, "b16", "auto", 4);

		large.job.uid = (uint32_t)i;
		large.job.has_uid = true;
		large.job.mapping = "best";
		ask(&large);
	}
	assert_true(engine->desk.spent < 410 * MS);
	req.job.uid = 99;
	req.job.has_uid = true;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
}

/* Fault: of a large array elements had what stock gives, since each was
 * searched for like the first. */
static void test_elements_of_an_array(void **state)
{
	int searched = 0;

	begin();
	profile("p2", 2, 1);
	warm("p2", 2);
	set_tick(MS / 50);
	for (int i = 0; i < 1000; i++) {
		struct cpl_engine_request req = request(500, "p2", "auto", 2);
		struct cpl_engine_allocation got = {.id = 1000 + i,
		                                    .array_id = 500,
		                                    .host = fake.host,
		                                    .n_hosts = 2,
		                                    .layout = fake_layout,
		                                    .arg = &fake.n_host};
		struct cpl_engine_notice notice;

		req.array_id = 500;
		all_free();
		fake.wanted = 2;
		if (ask(&req) != CPL_ENGINE_PLACED)
			fail_msg("element %d: %s", i, record()->reason);
		/* Others have the first one's nodes, and the scheduler's. */
		searched += record()->n_candidates > 2;
		cpl_engine_start(engine, &got, &notice);
		cpl_engine_end(engine, got.id);
	}
	assert_int_equal(searched, 1);
}

/* Fault: ranks were mapped to the scheduler's own nodes by the slowest mapper
 * whatever time was left. */
static void test_stock_nodes_when_time_is_over(void **state)
{
	struct cpl_engine_request req = request(10, "b16", "auto", 4);

	begin();
	warm("b16", 4);
	req.stock_reason = "the user asked for --contiguous";
	req.job.mapping = "greedyallc";
	for (int i = 0; i < 100; i++) {
		assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
		if (record()->stock_mapped_max >= 0)
			break;
	}
	assert_true(record()->stock_mapped_max >= 0);
	set_tick(25 * MS);
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_true(record()->stock_mapped_max < 0);
	assert_int_equal(engine->desk.decided->n_order, 0);
}

/* What was found there is what the job begins with. */
static void test_stock_nodes_are_mapped_once(void **state)
{
	struct cpl_engine_request req = request(10, "b16", "auto", 4);
	struct cpl_engine_notice notice;
	const struct running *job;
	int order[16];

	begin();
	warm("b16", 4);
	req.stock_reason = "the user asked for --contiguous";
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_true(engine->desk.decided->mapped);
	assert_non_null(engine->desk.decided->rank_host);
	memcpy(order, engine->desk.decided->rank_host, sizeof(order));
	/* There is no time to do it again. */
	set_tick(25 * MS);
	fake_begin(engine, 10, &fake, &notice);
	job = engine_running_find(&engine->ledger, 10);
	assert_memory_equal(job->record->rank_host, order, sizeof(order));
	assert_true(job->record->map_max_after ==
	            job->record->stock_mapped_max);
	assert_false(job->record->mapping_kept_default);
	assert_string_equal(job->record->stock_hosts, "n[0-3]");
}

static int compact(void *arg, int *host)
{
	for (int i = 0; i < 4; i++)
		host[i] = 28 + i;
	return 4;
}

/* Fault: a decision that the clock ended took linear nodes, though it knew the
 * scheduler's own to be better. */
static void test_stock_nodes_are_what_is_known(void **state)
{
	struct cpl_engine_request req = request(10, "b16", "auto", 4);
	struct cpl_engine_scheduler scheduler = fake_scheduler(&fake);
	char text[512];

	begin();
	warm("b16", 4);
	scheduler.compare = compact;
	for (int ms = 1; ms < 5; ms++) {
		memset(fake.cpus, 0, sizeof(fake.cpus));
		for (int i = 0; i < 4; i++)
			fake.cpus[9 * i] = fake.cpus[28 + i] = 4;
		set_tick(ms * MS);
		assert_int_equal(cpl_engine_decide(engine, &req, &scheduler,
		                                   text, sizeof(text)),
		                 CPL_ENGINE_PLACED);
		assert_true(ms < 2 || record()->cut_short);
		for (int i = 0; i < 4; i++)
			assert_int_equal(fake.host[i], 28 + i);
	}
}

/* Fault: which of many ranks share a host was found under the scheduler's
 * locks, whatever time it took. */
static void test_groups_of_large_jobs_grow_elsewhere(void **state)
{
	bool waited = false;

	/* Where the processors are others' they may have grown meanwhile. */
	for (int i = 0; i < 8 && !waited; i++) {
		char name[] = "d300a", file[] = "d300a.json";
		struct cpl_engine_request req = request(20, name, "auto", 30);

		name[4] = file[4] = (char)('a' + i);
		put(file,
		    "{\"format\": \"commplace-signature\", \"version\": 1, "
		    "\"ranks\": 300, \"phases\": [{\"pattern\": {\"type\": "
		    "\"many-to-many\", \"dims\": [300], \"axis\": 0, "
		    "\"bytes\": 8}}]}");
		all_free();
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		waited = record()->cut_short;
		assert_true(cpl_engine_idle(engine, WAIT_MS));
		all_free();
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_false(record()->cut_short);
	}
	assert_true(waited);
}

/* The profile is in memory and its groups are grown, whatever time that takes.
 */
static void settle(const struct cpl_engine_request *req)
{
	for (int i = 0; i < 4; i++) {
		all_free();
		set_tick(1);
		ask(req);
		set_tick(0);
		assert_true(cpl_engine_idle(engine, WAIT_MS));
	}
}

/* Fault: dense jobs had other nodes from run to run, since a clock ended their
 * search. Now counted work does, as much as the time that is allowed has room
 * for, though here no time passes. */
static void test_work_ends_before_the_clock(void **state)
{
	struct cpl_engine_request req = request(20, "d300", "auto", 30);
	int host[30];

	put("d300.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, "
	    "\"ranks\": 300, \"phases\": [{\"pattern\": {\"type\": "
	    "\"many-to-many\", \"dims\": [300], \"axis\": 0, "
	    "\"bytes\": 8}}]}");
	begin_with("MaxDecisionTime=1ms");
	settle(&req);
	for (int i = 0; i < 3; i++) {
		all_free();
		set_tick(1);
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_true(record()->cut_short);
		assert_true(i == 0 || !memcmp(host, fake.host, sizeof(host)));
		memcpy(host, fake.host, sizeof(host));
		set_tick(0);
	}
	begin_with("MaxDecisionTime=50ms");
	settle(&req);
	all_free();
	set_tick(1);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_false(record()->cut_short);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_users_have_shares),
	        T(test_small_jobs_have_a_reserve),
	        T(test_elements_of_an_array),
	        T(test_stock_nodes_when_time_is_over),
	        T(test_stock_nodes_are_mapped_once),
	        T(test_stock_nodes_are_what_is_known),
	        T(test_groups_of_large_jobs_grow_elsewhere),
	        T(test_work_ends_before_the_clock),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
