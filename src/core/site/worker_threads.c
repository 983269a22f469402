/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker's threads, and which request each takes next. */
#include "site/worker_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

void worker_free_request(struct cpl_request *request)
{
	if (request->free)
		request->free(request);
	else
		free(request);
}

void worker_unref(struct cpl_worker *worker, struct cpl_request *request)
{
	if (--request->refs)
		return;
	pthread_mutex_unlock(&worker->lock);
	worker_free_request(request);
	pthread_mutex_lock(&worker->lock);
}

struct thread *worker_thread_of(const struct queue *queue, uint64_t owner)
{
	for (int l = 0; l < queue->n_threads; l++)
		if (queue->thread[l].busy && queue->thread[l].owner == owner)
			return &queue->thread[l];
	return NULL;
}

/* The first one of an owner who has none in hand. */
static struct cpl_request *take_request(struct queue *queue)
{
	struct cpl_request **at = &queue->head, *before = NULL, *request;

	while (*at && worker_thread_of(queue, (*at)->owner)) {
		before = *at;
		at = &before->next;
	}
	request = *at;
	if (!request)
		return NULL;
	*at = request->next;
	if (queue->tail == request)
		queue->tail = before;
	return request;
}

static void run_request(struct thread *thread, struct cpl_request *request)
{
	struct queue *queue = thread->queue;
	struct cpl_worker *worker = queue->worker;
	/* What is read now nobody will see. */
	bool skip = worker->quit && queue != &worker->queue[CPL_QUEUE_WRITE];

	thread->busy = true;
	thread->owner = request->owner;
	if (!skip) {
		thread->files_since = cpl_now();
		pthread_mutex_unlock(&worker->lock);
		request->run(request);
		pthread_mutex_lock(&worker->lock);
		thread->files_since = 0;
	}
	thread->busy = false;
	request->done = true;
	pthread_cond_broadcast(&worker->change);
	worker_unref(worker, request);
}

/* With the lock held, which is given up meanwhile. */
static void run_every(struct thread *thread)
{
	struct queue *queue = thread->queue;
	struct cpl_worker *worker = queue->worker;

	if (!queue->every || (!worker->quit && cpl_now() < queue->next))
		return;
	thread->busy = true;
	thread->owner = 0;
	thread->files_since = cpl_now();
	pthread_mutex_unlock(&worker->lock);
	queue->every(queue->every_arg);
	pthread_mutex_lock(&worker->lock);
	thread->files_since = 0;
	thread->busy = false;
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

int worker_alive(const struct cpl_worker *worker)
{
	int n = 0;

	for (int i = 0; i < THREADS; i++)
		n += worker->thread[i].started && !worker->thread[i].ended;
	return n;
}

static void *work(void *arg)
{
	struct thread *thread = arg;
	struct queue *queue = thread->queue;
	struct cpl_worker *worker = queue->worker;
	void (*orphan)(void *) = NULL;
	void *orphan_arg;

	pthread_mutex_lock(&worker->lock);
	queue->next = cpl_now() + queue->every_ns;
	for (;;) {
		struct cpl_request *request = take_request(queue);

		if (request)
			run_request(thread, request);
		else if (worker->quit)
			break;
		else
			wait(queue);
		if (!worker->quit)
			run_every(thread);
	}
	run_every(thread);
	thread->ended = true;
	if (!worker_alive(worker))
		orphan = worker->orphan;
	orphan_arg = worker->orphan_arg;
	pthread_cond_broadcast(&worker->change);
	pthread_mutex_unlock(&worker->lock);
	if (orphan)
		orphan(orphan_arg);
	return NULL;
}

/* With the lock held: owners with requests, none of whom has one in hand. */
static int owners_waiting(const struct queue *queue)
{
	int n = 0;

	for (const struct cpl_request *r = queue->head; r; r = r->next) {
		const struct cpl_request *first = queue->head;

		while (first->owner != r->owner)
			first = first->next;
		n += first == r && !worker_thread_of(queue, r->owner);
	}
	return n;
}

int worker_start(struct queue *queue, struct cpl_error *err)
{
	struct cpl_worker *worker = queue->worker;
	struct thread *next = queue->thread;
	sigset_t all, old;
	int failed, n = 0, free_ones = 0;

	if (worker->owner && worker->owner != getpid())
		return cpl_fail(err, "this is a forked process");
	for (; n < queue->n_threads && next->started; n++, next++)
		free_ones += !next->busy;
	if (n && (n == queue->n_threads || owners_waiting(queue) <= free_ones))
		return 0;
	/* Signals are the program's own threads' business. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	failed = pthread_create(&next->handle, NULL, work, next);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return n ? 0
		         : cpl_fail(err, "cannot start a thread: %s",
		                    strerror(failed));
	worker->owner = getpid();
	next->started = true;
	return 0;
}
