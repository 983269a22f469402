/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "base/parallel.h"
#include "base/team.h"

#define CHUNKS 1000

int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg);

static int starts_left;

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg)
{
	if (starts_left == 0)
		return EAGAIN;
	starts_left--;
	return __real_pthread_create(id, attr, start, arg);
}

struct count {
	int done[CHUNKS]; /* each chunk has its own place */
	int thread[CHUNKS];
};

static void count(void *arg, int64_t chunk, int thread)
{
	struct count *c = arg;

	c->done[chunk]++;
	c->thread[chunk] = thread;
}

static void test_every_chunk_once(void **state)
{
	static const int chunks[] = {0, 1, 2, 7, CHUNKS};
	static const int threads[] = {-1, 0, 1, 2, 3, 8, 1000};

	for (size_t i = 0; i < sizeof(chunks) / sizeof(*chunks); i++)
		for (size_t j = 0; j < sizeof(threads) / sizeof(*threads);
		     j++) {
			struct count c = {{0}, {0}};
			int most = threads[j] < 1 ? 1 : threads[j];

			starts_left = 1000;
			cpl_parallel(threads[j], chunks[i], count, &c);
			for (int k = 0; k < CHUNKS; k++) {
				assert_int_equal(c.done[k], k < chunks[i]);
				assert_in_range(c.thread[k], 0, most - 1);
			}
		}
}

/* A machine that starts no or few threads: the rest does the work. */
static void test_threads_that_do_not_start(void **state)
{
	for (int starts = 0; starts < 3; starts++) {
		struct count c = {{0}, {0}};

		starts_left = starts;
		cpl_parallel(8, CHUNKS, count, &c);
		for (int k = 0; k < CHUNKS; k++) {
			assert_int_equal(c.done[k], 1);
			assert_in_range(c.thread[k], 0, starts);
		}
	}
}

static void count_once(void *arg, int64_t chunk, int thread)
{
	((int *)arg)[chunk] += thread >= 0 && thread < 8 ? 1 : 100;
}

/* Round after round by the same threads, with pauses in which they fall asleep;
 * fewer of them than wanted, and none. */
static void test_a_team(void **state)
{
	static const int threads[] = {-1, 1, 2, 3, 8};
	static const int chunks[] = {0, 1, 2, 7, CHUNKS};
	const struct timespec pause = {.tv_nsec = 2000000};

	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		for (int starts = 0; starts < 8; starts += 3) {
			struct cpl_team *team;

			starts_left = starts;
			team = cpl_team_new(threads[i], NULL);
			assert_non_null(team);
			for (int round = 0; round < 200; round++) {
				int done[CHUNKS] = {0};
				int n = chunks[round % 5];

				cpl_team_run(team, n, count_once, done);
				for (int k = 0; k < CHUNKS; k++)
					assert_int_equal(done[k], k < n);
				if (round % 50 == 0)
					nanosleep(&pause, NULL);
			}
			cpl_team_free(team);
		}
}

/* The caller is one of them; more than CPL_PARALLEL_MAX there never are. */
static void test_threads_of_a_team(void **state)
{
	static const struct {
		int threads, starts, has;
	} row[] = {
	        {-1, 1000, 1},
	        {0, 1000, 1},
	        {1, 1000, 1},
	        {2, 1000, 2},
	        {8, 1000, 8},
	        {8, 0, 1},
	        {8, 3, 4},
	        {CPL_PARALLEL_MAX, 1000, CPL_PARALLEL_MAX},
	        {CPL_PARALLEL_MAX + 1, 1000, CPL_PARALLEL_MAX},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_team *team;

		starts_left = row[i].starts;
		team = cpl_team_new(row[i].threads, NULL);
		assert_int_equal(cpl_team_threads(team), row[i].has);
		cpl_team_free(team);
	}
	assert_int_equal(cpl_team_threads(NULL), 1);
}

/* Chunks of which none returns before all have begun. */
#define TOGETHER 4

struct meeting {
	pthread_mutex_t lock;
	pthread_cond_t all;
	int n;
	int thread[TOGETHER]; /* of each chunk */
	pthread_t id[TOGETHER];
	sigset_t blocked[TOGETHER];
};

/* Who waits in vain gives up, and the test fails. */
static void meet(void *arg, int64_t chunk, int thread)
{
	struct meeting *m = arg;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	m->thread[chunk] = thread;
	m->id[chunk] = pthread_self();
	pthread_sigmask(SIG_BLOCK, NULL, &m->blocked[chunk]);
	pthread_mutex_lock(&m->lock);
	m->n++;
	pthread_cond_broadcast(&m->all);
	while (m->n < TOGETHER &&
	       pthread_cond_timedwait(&m->all, &m->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&m->lock);
}

static void check_meeting(const struct meeting *m)
{
	bool seen[TOGETHER] = {false};

	for (int i = 0; i < TOGETHER; i++) {
		bool caller = pthread_equal(m->id[i], pthread_self());

		assert_in_range(m->thread[i], 0, TOGETHER - 1);
		assert_false(seen[m->thread[i]]);
		seen[m->thread[i]] = true;
		assert_int_equal(m->thread[i] == 0, caller);
		/* The host's signals are its own. */
		assert_int_equal(sigismember(&m->blocked[i], SIGUSR1), !caller);
		assert_int_equal(sigismember(&m->blocked[i], SIGTERM), !caller);
	}
}

/* All threads work, each under a number of its own, round after round; what
 * they are told to do changes with each. */
static void test_a_team_works_together(void **state)
{
	struct cpl_team *team;

	starts_left = 1000;
	team = cpl_team_new(TOGETHER, NULL);
	for (int round = 0; round < 20; round++) {
		struct meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER,
		                    .all = PTHREAD_COND_INITIALIZER};
		struct count c = {{0}, {0}};

		cpl_team_run(team, TOGETHER, meet, &m);
		assert_int_equal(m.n, TOGETHER);
		check_meeting(&m);
		/* One is not worth waking anybody. */
		c.thread[0] = -1;
		cpl_team_run(team, 1, count, &c);
		assert_int_equal(c.done[0], 1);
		assert_int_equal(c.thread[0], 0);
	}
	cpl_team_free(team);
}

/* As cpl_parallel starts them. */
static void test_parallel_works_together(void **state)
{
	struct meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER,
	                    .all = PTHREAD_COND_INITIALIZER};

	starts_left = 1000;
	cpl_parallel(TOGETHER, TOGETHER, meet, &m);
	assert_int_equal(m.n, TOGETHER);
	check_meeting(&m);
}

static void test_no_team(void **state)
{
	int done[3] = {0};

	cpl_team_run(NULL, 3, count_once, done);
	for (int k = 0; k < 3; k++)
		assert_int_equal(done[k], 1);
	cpl_team_free(NULL);
}

static void test_one_thread_is_the_caller(void **state)
{
	struct count c = {{0}, {0}};

	starts_left = 0;
	cpl_parallel(1, CHUNKS, count, &c);
	for (int k = 0; k < CHUNKS; k++)
		assert_int_equal(c.thread[k], 0);
}

static void test_chunks_cover_the_items(void **state)
{
	static const int64_t items[] = {0, 1, 9, 10, 11, 99, 92160};

	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
		assert_int_equal(cpl_parallel_first(items[i], 10, 0), 0);
		assert_int_equal(cpl_parallel_first(items[i], 10, 10),
		                 items[i]);
		for (int k = 0; k < 10; k++) {
			int64_t size = cpl_parallel_first(items[i], 10, k + 1) -
			               cpl_parallel_first(items[i], 10, k);

			assert_in_range(size, items[i] / 10,
			                (items[i] + 9) / 10);
		}
	}
}

static void test_cpus(void **state)
{
	assert_in_range(cpl_parallel_cpus(), 1, CPL_PARALLEL_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_chunk_once),
	        cmocka_unit_test(test_threads_that_do_not_start),
	        cmocka_unit_test(test_a_team),
	        cmocka_unit_test(test_threads_of_a_team),
	        cmocka_unit_test(test_a_team_works_together),
	        cmocka_unit_test(test_parallel_works_together),
	        cmocka_unit_test(test_no_team),
	        cmocka_unit_test(test_one_thread_is_the_caller),
	        cmocka_unit_test(test_chunks_cover_the_items),
	        cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
