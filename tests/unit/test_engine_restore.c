/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What it takes under the scheduler's locks to take back many jobs, in work and
 * not in time: comparisons of job numbers, bytes of jobs that are moved.
 */
#include "engine_fixture.h"

#include <dlfcn.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_many_jobs, set_up,
	                                        tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
