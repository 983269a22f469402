/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker: which threads it starts, whom they serve, and how it ends. */
#include "commplace-config.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#include "site/worker_internal.h"

#define SECOND INT64_C(1000000000)

static struct cpl_worker *worker;
static atomic_int running, ran;
static atomic_bool hold;

/* No thread can be had while this is set. */
static atomic_bool crowded;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                   void *(*begin)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *,
	                   void *(*)(void *), void *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return crowded ? EAGAIN : real(thread, attr, begin, arg);
}

static void run(struct cpl_request *request)
{
	running++;
	while (hold)
		usleep(1000);
	running--;
	ran++;
}

static int queue(enum cpl_queue which, uint64_t owner, struct cpl_error *err)
{
	struct cpl_request *request = calloc(1, sizeof(*request));

	assert_non_null(request);
	request->run = run;
	request->owner = owner;
	return cpl_worker_queue(worker, which, request, false, err);
}

static void home(uint64_t owner)
{
	assert_int_equal(queue(CPL_QUEUE_HOME, owner, NULL), 0);
}

static void wait_for(int n)
{
	while (running != n)
		usleep(1000);
}

static void finish(void)
{
	hold = false;
	assert_true(cpl_worker_idle(worker, cpl_now() + 20 * SECOND));
}

static int set_up(void **state)
{
	hold = false;
	running = ran = 0;
	worker = cpl_worker_new(NULL);
	return worker ? 0 : -1;
}

static int tear_down(void **state)
{
	bool all;

	hold = false;
	all = cpl_worker_stop(worker, cpl_now() + 20 * SECOND, NULL, NULL);
	cpl_worker_free(worker);
	return all ? 0 : -1;
}

/* One that was never used has nothing to wait for. */
static void test_without_threads(void **state)
{
	assert_true(cpl_worker_idle(worker, 0));
	assert_true(cpl_worker_stop(worker, 0, NULL, NULL));
}

static void test_threads_as_owners_need_them(void **state)
{
	for (uint64_t owner = 1; owner < 4; owner++) {
		home(owner);
		finish();
	}
	assert_int_equal(worker_alive(worker), 1);
	hold = true;
	for (int i = 0; i < 3; i++)
		home(1);
	assert_int_equal(worker_alive(worker), 1);
	home(2);
	wait_for(2);
	assert_int_equal(worker_alive(worker), 2);
	home(2);
	home(1);
	assert_int_equal(worker_alive(worker), 2);
	finish();
	assert_int_equal(ran, 9);
}

static void test_more_owners_than_threads(void **state)
{
	hold = true;
	for (uint64_t owner = 1; owner <= CPL_HOME_THREADS + 3; owner++)
		home(owner);
	wait_for(CPL_HOME_THREADS);
	assert_int_equal(worker_alive(worker), CPL_HOME_THREADS);
	finish();
	assert_int_equal(ran, CPL_HOME_THREADS + 3);
}

/* Without any thread nothing is done, with one all is. */
static void test_no_more_threads(void **state)
{
	struct cpl_error err = {""};

	crowded = true;
	assert_int_equal(queue(CPL_QUEUE_HOME, 1, &err), -1);
	assert_string_equal(err.text, "cannot start a thread: "
	                              "Resource temporarily unavailable");
	assert_true(cpl_worker_idle(worker, 0));
	crowded = false;
	hold = true;
	home(1);
	crowded = true;
	home(2);
	crowded = false;
	finish();
	assert_int_equal(ran, 2);
}

/* Whose files hold up whom. */
static void test_who_is_stuck(void **state)
{
	int64_t before = cpl_now();

	hold = true;
	home(1);
	wait_for(1);
	assert_true(cpl_worker_owner_stuck(worker, CPL_QUEUE_HOME, 1,
	                                   cpl_now() + 1));
	assert_false(cpl_worker_owner_stuck(worker, CPL_QUEUE_HOME, 1, before));
	/* Another thread is there for another owner. */
	assert_false(cpl_worker_owner_stuck(worker, CPL_QUEUE_HOME, 2,
	                                    cpl_now() + 1));
	assert_false(cpl_worker_stuck(worker, CPL_QUEUE_LOOK, cpl_now() + 1));
	assert_int_equal(queue(CPL_QUEUE_LOOK, 0, NULL), 0);
	wait_for(2);
	assert_true(cpl_worker_stuck(worker, CPL_QUEUE_LOOK, cpl_now() + 1));
	assert_false(cpl_worker_idle(worker, cpl_now()));
	finish();
	assert_false(cpl_worker_stuck(worker, CPL_QUEUE_LOOK, cpl_now() + 1));
}

static void test_idle_whoever_was_served(void **state)
{
	for (int which = 0; which < CPL_QUEUES; which++)
		assert_int_equal(queue((enum cpl_queue)which, 5, NULL), 0);
	finish();
	assert_int_equal(ran, CPL_QUEUES);
}

static void test_nothing_after_the_end(void **state)
{
	struct cpl_error err = {""};

	home(1);
	assert_false(cpl_worker_ends(worker));
	assert_true(
	        cpl_worker_stop(worker, cpl_now() + 20 * SECOND, NULL, NULL));
	assert_true(cpl_worker_ends(worker));
	assert_int_equal(queue(CPL_QUEUE_HOME, 1, &err), -1);
	assert_string_equal(err.text, "the engine ends");
	assert_int_equal(
	        cpl_worker_queue(worker, CPL_QUEUE_HOME, NULL, false, &err),
	        -1);
	assert_string_equal(err.text, "out of memory");
	/* For tear_down(): its threads have been joined. */
	cpl_worker_free(worker);
	worker = cpl_worker_new(NULL);
}

/* In a child: 0, or a line. */
static int forked(void)
{
	struct queue *q = &worker->queue[CPL_QUEUE_HOME];
	struct cpl_request *last = q->tail;

	for (int i = 0; i < 2; i++) {
		struct cpl_error err = {""};

		if (queue(CPL_QUEUE_HOME, 3, &err) != -1 ||
		    strcmp(err.text, "this is a forked process"))
			return __LINE__;
		if (q->tail != last || last->next)
			return __LINE__;
	}
	if (cpl_worker_stop(worker, 0, NULL, NULL))
		return __LINE__;
	return 0;
}

/* What is queued there is not kept, and its parent's threads are not its. */
static void test_a_forked_process(void **state)
{
	int status;
	pid_t pid;

	hold = true;
	home(1);
	wait_for(1);
	home(1);
	home(1);
	pid = fork();
	if (!pid)
		_exit(forked() ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	finish();
	assert_int_equal(ran, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_without_threads),
	        T(test_threads_as_owners_need_them),
	        T(test_more_owners_than_threads),
	        T(test_no_more_threads),
	        T(test_who_is_stuck),
	        T(test_idle_whoever_was_served),
	        T(test_nothing_after_the_end),
	        T(test_a_forked_process),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
