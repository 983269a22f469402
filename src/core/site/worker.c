/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct lane {
	struct cpl_worker *worker;
	pthread_t thread;
	bool started, ended;
	struct cpl_task *head, *tail;
	bool busy;
	int64_t files_since; /* 0: the task in hand touches no file now */
};

struct cpl_worker {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct lane lane[CPL_LANES];
	bool quit;
	pid_t owner; /* 0: no thread was started yet */
	void (*orphan)(void *arg);
	void *orphan_arg;
};

int64_t cpl_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void cpl_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

bool cpl_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                         int64_t deadline)
{
	struct timespec at = {deadline / 1000000000, deadline % 1000000000};

	return pthread_cond_timedwait(cond, lock, &at) != ETIMEDOUT;
}

struct cpl_worker *cpl_worker_new(struct cpl_error *err)
{
	struct cpl_worker *worker = calloc(1, sizeof(*worker));

	if (!worker) {
		cpl_fail_memory(err);
		return NULL;
	}
	pthread_mutex_init(&worker->lock, NULL);
	cpl_cond_init(&worker->change);
	for (int i = 0; i < CPL_LANES; i++)
		worker->lane[i].worker = worker;
	return worker;
}

void cpl_worker_free(struct cpl_worker *worker)
{
	if (!worker)
		return;
	pthread_cond_destroy(&worker->change);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

/* With the lock held, which is given up for the task's own free(). */
static void unref(struct cpl_worker *worker, struct cpl_task *task)
{
	if (--task->refs)
		return;
	pthread_mutex_unlock(&worker->lock);
	task->free(task);
	pthread_mutex_lock(&worker->lock);
}

void cpl_worker_drop(struct cpl_worker *worker, struct cpl_task *task)
{
	if (!task)
		return;
	pthread_mutex_lock(&worker->lock);
	unref(worker, task);
	pthread_mutex_unlock(&worker->lock);
}

static struct cpl_task *take(struct lane *lane)
{
	struct cpl_task *task = lane->head;

	if (task) {
		lane->head = task->next;
		if (!lane->head)
			lane->tail = NULL;
	}
	return task;
}

static void run(struct lane *lane, struct cpl_task *task)
{
	struct cpl_worker *worker = lane->worker;
	/* What is read now nobody will see. */
	bool skip = worker->quit && lane != &worker->lane[CPL_LANE_WRITE];

	lane->busy = true;
	if (!skip) {
		lane->files_since = cpl_now();
		pthread_mutex_unlock(&worker->lock);
		task->run(task);
		pthread_mutex_lock(&worker->lock);
		lane->files_since = 0;
	}
	lane->busy = false;
	task->done = true;
	pthread_cond_broadcast(&worker->change);
	unref(worker, task);
}

/* With the lock held: threads that have not ended. */
static int alive(const struct cpl_worker *worker)
{
	int n = 0;

	for (int i = 0; i < CPL_LANES; i++)
		n += worker->lane[i].started && !worker->lane[i].ended;
	return n;
}

static void *work(void *arg)
{
	struct lane *lane = arg;
	struct cpl_worker *worker = lane->worker;
	void (*orphan)(void *) = NULL;
	void *orphan_arg;

	pthread_mutex_lock(&worker->lock);
	for (;;) {
		struct cpl_task *task = take(lane);

		if (task)
			run(lane, task);
		else if (worker->quit)
			break;
		else
			pthread_cond_wait(&worker->change, &worker->lock);
	}
	lane->ended = true;
	if (!alive(worker))
		orphan = worker->orphan;
	orphan_arg = worker->orphan_arg;
	pthread_cond_broadcast(&worker->change);
	pthread_mutex_unlock(&worker->lock);
	if (orphan)
		orphan(orphan_arg);
	return NULL;
}

/* With the lock held. */
static int start(struct lane *lane, struct cpl_error *err)
{
	struct cpl_worker *worker = lane->worker;
	sigset_t all, old;
	int failed;

	if (worker->owner && worker->owner != getpid())
		return cpl_fail(err, "this is a forked process");
	if (lane->started)
		return 0;
	/* Signals are the program's own threads' business. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	failed = pthread_create(&lane->thread, NULL, work, lane);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return cpl_fail(err, "cannot start a thread: %s",
		                strerror(failed));
	worker->owner = getpid();
	lane->started = true;
	return 0;
}

int cpl_worker_queue(struct cpl_worker *worker, enum cpl_lane which,
                     struct cpl_task *task, bool keep, struct cpl_error *err)
{
	struct lane *lane = &worker->lane[which];
	int rc;

	if (!task)
		return cpl_fail_memory(err);
	pthread_mutex_lock(&worker->lock);
	rc = worker->quit ? cpl_fail(err, "the engine ends") : start(lane, err);
	if (!rc) {
		task->refs = 1 + keep;
		task->done = false;
		task->next = NULL;
		if (lane->tail)
			lane->tail->next = task;
		else
			lane->head = task;
		lane->tail = task;
		pthread_cond_broadcast(&worker->change);
	}
	pthread_mutex_unlock(&worker->lock);
	if (rc)
		task->free(task);
	return rc;
}

bool cpl_worker_wait(struct cpl_worker *worker, struct cpl_task *task,
                     int64_t deadline)
{
	bool done;

	pthread_mutex_lock(&worker->lock);
	while (!task->done &&
	       cpl_cond_wait_until(&worker->change, &worker->lock, deadline))
		;
	done = task->done;
	pthread_mutex_unlock(&worker->lock);
	return done;
}

void cpl_worker_files(struct cpl_worker *worker, enum cpl_lane lane, bool now)
{
	pthread_mutex_lock(&worker->lock);
	worker->lane[lane].files_since = now ? cpl_now() : 0;
	pthread_mutex_unlock(&worker->lock);
}

bool cpl_worker_stuck(struct cpl_worker *worker, enum cpl_lane lane,
                      int64_t since)
{
	int64_t files_since;

	pthread_mutex_lock(&worker->lock);
	files_since = worker->lane[lane].files_since;
	pthread_mutex_unlock(&worker->lock);
	return files_since && files_since < since;
}

/* With the lock held: has any lane something to do? */
static bool busy(const struct cpl_worker *worker)
{
	for (int i = 0; i < CPL_LANES; i++)
		if (worker->lane[i].head || worker->lane[i].busy)
			return true;
	return false;
}

bool cpl_worker_idle(struct cpl_worker *worker, int64_t deadline)
{
	bool idle;

	pthread_mutex_lock(&worker->lock);
	while (busy(worker) &&
	       cpl_cond_wait_until(&worker->change, &worker->lock, deadline))
		;
	idle = !busy(worker);
	pthread_mutex_unlock(&worker->lock);
	return idle;
}

bool cpl_worker_stop(struct cpl_worker *worker, int64_t deadline,
                     void (*orphan)(void *arg), void *arg)
{
	bool ended[CPL_LANES], all = true;

	if (!worker->owner)
		return true;
	if (worker->owner != getpid())
		return false;
	pthread_mutex_lock(&worker->lock);
	worker->quit = true;
	pthread_cond_broadcast(&worker->change);
	while (alive(worker) &&
	       cpl_cond_wait_until(&worker->change, &worker->lock, deadline))
		;
	for (int i = 0; i < CPL_LANES; i++) {
		ended[i] = !worker->lane[i].started || worker->lane[i].ended;
		all &= ended[i];
		if (!ended[i])
			pthread_detach(worker->lane[i].thread);
	}
	if (!all) {
		worker->orphan = orphan;
		worker->orphan_arg = arg;
	}
	for (int i = 0; i < CPL_LANES; i++) {
		struct lane *lane = &worker->lane[i];

		if (lane->started && ended[i])
			/* It needs the lock no more. */
			pthread_join(lane->thread, NULL);
	}
	pthread_mutex_unlock(&worker->lock);
	return all;
}
