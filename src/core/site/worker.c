/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct queue {
	struct cpl_worker *worker;
	pthread_t thread;
	bool started, ended;
	struct cpl_request *head, *tail;
	bool busy;
	int64_t files_since; /* 0: the request in hand touches no file now */
	void (*every)(void *arg); /* or NULL */
	void *every_arg;
	int64_t every_ns, next;
};

struct cpl_worker {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct queue queue[CPL_QUEUES];
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
	for (int i = 0; i < CPL_QUEUES; i++)
		worker->queue[i].worker = worker;
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

static void free_request(struct cpl_request *request)
{
	if (request->free)
		request->free(request);
	else
		free(request);
}

/* With the lock held, which is given up for the request's own free(). */
static void unref(struct cpl_worker *worker, struct cpl_request *request)
{
	if (--request->refs)
		return;
	pthread_mutex_unlock(&worker->lock);
	free_request(request);
	pthread_mutex_lock(&worker->lock);
}

void cpl_worker_drop(struct cpl_worker *worker, struct cpl_request *request)
{
	if (!request)
		return;
	pthread_mutex_lock(&worker->lock);
	unref(worker, request);
	pthread_mutex_unlock(&worker->lock);
}

static struct cpl_request *take(struct queue *queue)
{
	struct cpl_request *request = queue->head;

	if (request) {
		queue->head = request->next;
		if (!queue->head)
			queue->tail = NULL;
	}
	return request;
}

static void run(struct queue *queue, struct cpl_request *request)
{
	struct cpl_worker *worker = queue->worker;
	/* What is read now nobody will see. */
	bool skip = worker->quit && queue != &worker->queue[CPL_QUEUE_WRITE];

	queue->busy = true;
	if (!skip) {
		queue->files_since = cpl_now();
		pthread_mutex_unlock(&worker->lock);
		request->run(request);
		pthread_mutex_lock(&worker->lock);
		queue->files_since = 0;
	}
	queue->busy = false;
	request->done = true;
	pthread_cond_broadcast(&worker->change);
	unref(worker, request);
}

/* With the lock held, which is given up meanwhile. */
static void run_every(struct queue *queue)
{
	struct cpl_worker *worker = queue->worker;

	if (!queue->every || (!worker->quit && cpl_now() < queue->next))
		return;
	queue->busy = true;
	queue->files_since = cpl_now();
	pthread_mutex_unlock(&worker->lock);
	queue->every(queue->every_arg);
	pthread_mutex_lock(&worker->lock);
	queue->files_since = 0;
	queue->busy = false;
	queue->next = cpl_now() + queue->every_ns;
	pthread_cond_broadcast(&worker->change);
}

/* With the lock held: for a request or the time. */
static void wait(struct queue *queue)
{
	struct cpl_worker *worker = queue->worker;

	if (queue->every)
		cpl_cond_wait_until(&worker->change, &worker->lock,
		                    queue->next);
	else
		pthread_cond_wait(&worker->change, &worker->lock);
}

/* With the lock held: threads that have not ended. */
static int alive(const struct cpl_worker *worker)
{
	int n = 0;

	for (int i = 0; i < CPL_QUEUES; i++)
		n += worker->queue[i].started && !worker->queue[i].ended;
	return n;
}

static void *work(void *arg)
{
	struct queue *queue = arg;
	struct cpl_worker *worker = queue->worker;
	void (*orphan)(void *) = NULL;
	void *orphan_arg;

	pthread_mutex_lock(&worker->lock);
	queue->next = cpl_now() + queue->every_ns;
	for (;;) {
		struct cpl_request *request = take(queue);

		if (request)
			run(queue, request);
		else if (worker->quit)
			break;
		else
			wait(queue);
		if (!worker->quit)
			run_every(queue);
	}
	run_every(queue);
	queue->ended = true;
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
static int start(struct queue *queue, struct cpl_error *err)
{
	struct cpl_worker *worker = queue->worker;
	sigset_t all, old;
	int failed;

	if (worker->owner && worker->owner != getpid())
		return cpl_fail(err, "this is a forked process");
	if (queue->started)
		return 0;
	/* Signals are the program's own threads' business. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	failed = pthread_create(&queue->thread, NULL, work, queue);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return cpl_fail(err, "cannot start a thread: %s",
		                strerror(failed));
	worker->owner = getpid();
	queue->started = true;
	return 0;
}

int cpl_worker_queue(struct cpl_worker *worker, enum cpl_queue which,
                     struct cpl_request *request, bool keep,
                     struct cpl_error *err)
{
	struct queue *queue = &worker->queue[which];
	int rc;

	if (!request)
		return cpl_fail_memory(err);
	pthread_mutex_lock(&worker->lock);
	rc = worker->quit ? cpl_fail(err, "the engine ends")
	                  : start(queue, err);
	if (!rc) {
		request->refs = 1 + keep;
		request->done = false;
		request->next = NULL;
		if (queue->tail)
			queue->tail->next = request;
		else
			queue->head = request;
		queue->tail = request;
		pthread_cond_broadcast(&worker->change);
	}
	pthread_mutex_unlock(&worker->lock);
	if (rc)
		free_request(request);
	return rc;
}

void cpl_worker_every(struct cpl_worker *worker, enum cpl_queue which,
                      int64_t ns, void (*call)(void *arg), void *arg)
{
	struct queue *queue = &worker->queue[which];

	queue->every = call;
	queue->every_arg = arg;
	queue->every_ns = ns;
}

bool cpl_worker_wait(struct cpl_worker *worker, struct cpl_request *request,
                     int64_t deadline)
{
	bool done;

	pthread_mutex_lock(&worker->lock);
	while (!request->done &&
	       cpl_cond_wait_until(&worker->change, &worker->lock, deadline))
		;
	done = request->done;
	pthread_mutex_unlock(&worker->lock);
	return done;
}

void cpl_worker_files(struct cpl_worker *worker, enum cpl_queue queue, bool now)
{
	pthread_mutex_lock(&worker->lock);
	worker->queue[queue].files_since = now ? cpl_now() : 0;
	pthread_mutex_unlock(&worker->lock);
}

bool cpl_worker_stuck(struct cpl_worker *worker, enum cpl_queue queue,
                      int64_t since)
{
	int64_t files_since;

	pthread_mutex_lock(&worker->lock);
	files_since = worker->queue[queue].files_since;
	pthread_mutex_unlock(&worker->lock);
	return files_since && files_since < since;
}

/* With the lock held: has any queue something to do? */
static bool busy(const struct cpl_worker *worker)
{
	for (int i = 0; i < CPL_QUEUES; i++)
		if (worker->queue[i].head || worker->queue[i].busy)
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
	bool all = true;

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
	for (int i = 0; i < CPL_QUEUES; i++) {
		struct queue *queue = &worker->queue[i];

		if (!queue->started)
			continue;
		all = all && queue->ended;
		/* One that ended needs the lock no more. */
		if (queue->ended)
			pthread_join(queue->thread, NULL);
		else
			pthread_detach(queue->thread);
	}
	if (!all) {
		worker->orphan = orphan;
		worker->orphan_arg = arg;
	}
	pthread_mutex_unlock(&worker->lock);
	return all;
}
