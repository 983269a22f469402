/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that end while their records are taken back, and what it takes under the
 * scheduler's locks to take back many, in work and not in time: comparisons of job
 * numbers, bytes of jobs that are moved.
 */
#include "engine_fixture.h"

#include <dlfcn.h>
#include <semaphore.h>

#define JOBS 1500

static size_t moved, compared;

void *memmove(void *to, const void *from, size_t n)
{
	static void *(*real)(void *, const void *, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "memmove");
	moved += n;
	return real(to, from, n);
}

int __real_engine_live_order(const void *a, const void *b);
int __wrap_engine_live_order(const void *a, const void *b);
int __wrap_engine_live_order(const void *a, const void *b)
{
	compared++;
	return __real_engine_live_order(a, b);
}

/* Numbers as they come out of a folder: in no order. */
static int64_t number(int i)
{
	return 1 + i * INT64_C(7) % JOBS;
}

static void put_records(void)
{
	struct cpl_record record = {.uid = 4711};
	struct cpl_record_dir *records = engine->clerk.records;

	for (int i = 0; i < JOBS; i++) {
		record.job = number(i);
		cpl_record_dir_write(records, &record);
	}
	assert_true(cpl_engine_idle(engine, 10 * WAIT_MS));
}

/* All but one in so many of them live, told in another order than sorted. */
static void restore(int without)
{
	static struct cpl_engine_live live[JOBS];
	int n = 0;

	for (int i = JOBS - 1; i >= 0; i--)
		if (!without || number(i) % without)
			live[n++].id = number(i);
	moved = compared = 0;
	cpl_engine_restore(engine, live, n, 10 * WAIT_MS);
	assert_true(cpl_engine_idle(engine, 10 * WAIT_MS));
	/* Any call takes back what was read. */
	cpl_engine_end(engine, JOBS + 1);
	assert_int_equal(engine->ledger.n_running, n);
	for (int i = 1; i < n; i++)
		assert_true(engine->ledger.running[i - 1].id <
		            engine->ledger.running[i].id);
	/* log2(JOBS) is 11: to sort once, and to look for each twice. */
	assert_true(moved < 16 * JOBS * sizeof(struct running));
	assert_true(compared >= JOBS && compared < 64 * JOBS);
}

static void test_many_jobs(void **state)
{
	put_records();
	restore(0);
	restore(2);
	/* At a reconfiguration they are known. */
	restore(2);
}

static sem_t held;

static void hold(struct cpl_request *head)
{
	sem_wait(&held);
}

static bool runs(int64_t id)
{
	return engine_running_find(&engine->ledger, id) != NULL;
}

/* Jobs end while their records are read back: one before the reading begins, one
 * while it is under way, and one that begins anew meanwhile. */
static void test_ends_while_records_are_read(void **state)
{
	const struct cpl_engine_live live[] = {{10, false}, {20, false},
	                                       {30, false}, {40, false}};
	const struct cpl_engine_live later[] = {{10, false}, {30, false},
	                                        {40, false}};
	struct cpl_request *first = calloc(1, sizeof(*first));
	char file[32];

	all_free();
	for (int i = 0; i < 4; i++)
		start(live[i].id, "a8", "linear", 4, 8);
	cpl_engine_free(engine);
	set_up_engine();
	assert_non_null(first);
	assert_int_equal(sem_init(&held, 0, 0), 0);
	first->run = hold;
	assert_int_equal(cpl_worker_queue(engine->clerk.worker, CPL_QUEUE_WRITE,
	                                  first, false, NULL), 0);
	cpl_engine_restore(engine, live, 4, 0);
	cpl_engine_end(engine, 20);
	cpl_engine_end(engine, 30);
	all_free();
	start(30, "a8", "round-robin-routers", 4, 8);
	sem_post(&held);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	/* Ended, too, where what was read is from before. */
	cpl_engine_restore(engine, later, 3, 0);
	cpl_engine_end(engine, 40);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	/* Any call takes back what was read. */
	cpl_engine_end(engine, 31);
	assert_true(runs(10));
	assert_false(runs(20));
	assert_true(runs(30));
	assert_string_equal(engine_running_find(&engine->ledger, 30)
	                            ->record->policy, "round-robin-routers");
	assert_false(runs(40));
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	for (int i = 0; i < 4; i++) {
		bool ended = live[i].id == 20 || live[i].id == 40;

		snprintf(file, sizeof(file), "state/%s/%d.json",
		         ended ? "ended" : "running", (int)live[i].id);
		assert_int_equal(access(in_dir(file), F_OK), 0);
		snprintf(file, sizeof(file), "state/running/%d.json",
		         (int)live[i].id);
		assert_int_equal(access(in_dir(file), F_OK), ended ? -1 : 0);
	}
	sem_destroy(&held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                test_ends_while_records_are_read, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_many_jobs, set_up,
	                                        tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
