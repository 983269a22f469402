/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job that is requeued: its ranks stay where they were. */
#include "engine_fixture.h"

#include "placement/repair.h"

static int before[HOSTS];
static int n_before;
static int before_ranks[16];

/* Job 1 runs, on all that is free, and ends. */
static void run_before(int nodes)
{
	const struct running *job;

	all_free();
	start(1, "b16", "auto", nodes, 16);
	job = engine_running_find(&engine->ledger, 1);
	n_before = job->record->n_hosts;
	for (int i = 0; i < n_before; i++)
		before[i] = atoi(job->record->host[i] + 1);
	memcpy(before_ranks, job->record->rank_host, sizeof(before_ranks));
	cpl_engine_end(engine, 1);
	all_free();
}

/* As begun again without that node: which of its hosts moved, one at most. */
static int begin_again(void)
{
	struct cpl_engine_notice notice;
	const struct running *job;
	int moved = -1;

	fake_begin(engine, 1, &fake, &notice);
	assert_non_null(strstr(notice.text, "policy=repair"));
	job = engine_running_find(&engine->ledger, 1);
	for (int i = 0; i < n_before; i++)
		if (atoi(job->record->host[i] + 1) != before[i]) {
			assert_int_equal(moved, -1);
			moved = i;
		}
	assert_memory_equal(job->record->rank_host, before_ranks,
	                    sizeof(before_ranks));
	return moved;
}

/* Each node in turn. */
static void test_node_fails(void **state)
{
	int kept = 0;

	(void)state;
	for (int i = 0; i < 12; i++) {
		int nodes = i < 4 ? 4 : 8, gone = i % nodes;
		struct cpl_engine_request req;

		run_before(nodes);
		fake.cpus[before[gone]] = 0;
		req = request(1, "b16", "auto", nodes);
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_non_null(record()->former_hosts);
		if (strcmp(record()->policy, "repair")) {
			assert_true(record()->former_worse > CPL_REPAIR_WORSE);
		} else {
			assert_true(record()->former_worse <= CPL_REPAIR_WORSE);
			/* As a test, and once more: the same. */
			assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
			assert_string_equal(record()->policy, "repair");
			assert_int_equal(begin_again(), gone);
			kept++;
		}
		cpl_engine_end(engine, 1);
		/* What ended last is where it ran before. */
		engine_formers_forget(&engine->desk);
	}
	assert_true(kept > 0);
	assert_true(kept < 12);
}

/* Another job has no run before, nor has this one after a change of the site's. */
static void test_forgotten(void **state)
{
	struct cpl_engine_request req;

	(void)state;
	run_before(8);
	req = request(2, "b16", "auto", 8);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_null(record()->former_hosts);
	config("Seed=7");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	req = request(1, "b16", "auto", 8);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_null(record()->former_hosts);
}

/* Most of its nodes are taken, or it was of another size. */
static void test_little_left(void **state)
{
	struct cpl_engine_request req;

	(void)state;
	run_before(8);
	for (int i = 0; i <= CPL_REPAIR_GONE; i++)
		fake.cpus[before[i]] = 0;
	req = request(1, "b16", "auto", 8);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_null(record()->former_hosts);
	run_before(8);
	req = request(1, "b16", "auto", 4);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_null(record()->former_hosts);
	/* A user who names a policy has it. */
	run_before(8);
	req = request(1, "b16", "linear", 8);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_null(record()->former_hosts);
	assert_string_equal(record()->policy, "linear");
}

/* Thousands of jobs end after it, each with as many ranks: it is forgotten, the newest
 * are not, and memory has its bound. */
static void test_many(void **state)
{
	struct cpl_record record = {.ranks = 16, .n_hosts = 2};
	struct running job = {.record = &record, .has_layout = true};
	int rank_host[16] = {0, 1};
	char *host[] = {(char[]){"n3"}, (char[]){"n5"}};

	(void)state;
	run_before(8);
	record.host = host;
	record.rank_host = rank_host;
	assert_non_null(engine_former(&engine->desk, 1));
	for (record.job = 2; record.job < 5000; record.job++)
		engine_former_keep(&engine->desk, &job);
	assert_null(engine_former(&engine->desk, 1));
	assert_non_null(engine_former(&engine->desk, 4999));
	assert_int_equal(engine_former(&engine->desk, 4999)->node[1], 5);
	/* Its newest run counts. */
	host[1] = (char[]){"n6"};
	record.job = 4999;
	engine_former_keep(&engine->desk, &job);
	assert_int_equal(engine_former(&engine->desk, 4999)->node[1], 6);
	/* Where it ran is not in the network. */
	host[1] = (char[]){"x"};
	record.job = 6000;
	engine_former_keep(&engine->desk, &job);
	assert_null(engine_former(&engine->desk, 6000));
	engine_formers_forget(&engine->desk);
	assert_null(engine_former(&engine->desk, 4999));
	/* Two of the largest are all that there is room for. */
	record.ranks = (7 << 20) / (int)sizeof(int);
	record.rank_host = calloc((size_t)record.ranks, sizeof(int));
	host[1] = (char[]){"n6"};
	for (record.job = 7000; record.job < 7005; record.job++)
		engine_former_keep(&engine->desk, &job);
	for (int i = 0; i < 5; i++)
		assert_int_equal(
		        engine_former(&engine->desk, 7000 + i) != NULL, i >= 3);
	free(record.rank_host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_node_fails, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_forgotten, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_little_left, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
