/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/worker_internal.h"

#include <stdlib.h>
#include <unistd.h>

static void make_threads(struct cpl_worker *worker)
{
	struct thread *next = worker->thread;

	for (int i = 0; i < CPL_QUEUES; i++) {
		struct queue *queue = &worker->queue[i];

		queue->worker = worker;
		queue->thread = next;
		queue->n_threads = i == CPL_QUEUE_HOME ? CPL_HOME_THREADS : 1;
		next += queue->n_threads;
		for (int l = 0; l < queue->n_threads; l++)
			queue->thread[l].queue = queue;
	}
}

struct cpl_worker *cpl_worker_new(struct cpl_error *err)
{
	struct cpl_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return cpl_fail_null_memory(err);
	pthread_mutex_init(&worker->lock, NULL);
	cpl_cond_init(&worker->change);
	make_threads(worker);
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

void cpl_worker_drop(struct cpl_worker *worker, struct cpl_request *request)
{
	if (!request)
		return;
	pthread_mutex_lock(&worker->lock);
	worker_unref(worker, request);
	pthread_mutex_unlock(&worker->lock);
}

/* With the lock held. */
static void append(struct queue *queue, struct cpl_request *request)
{
	request->done = false;
	request->next = NULL;
	if (queue->tail)
		queue->tail->next = request;
	else
		queue->head = request;
	queue->tail = request;
}

/* With the lock held: the last one is not to be after all. */
static void take_back(struct queue *queue, const struct cpl_request *request)
{
	struct cpl_request **at = &queue->head, *before = NULL;

	while (*at != request) {
		before = *at;
		at = &before->next;
	}
	*at = NULL;
	queue->tail = before;
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
	if (worker->quit) {
		rc = cpl_fail(err, "the engine ends");
	} else {
		request->refs = 1 + keep;
		append(queue, request);
		rc = worker_start(queue, err);
		if (rc)
			take_back(queue, request);
		else
			pthread_cond_broadcast(&worker->change);
	}
	pthread_mutex_unlock(&worker->lock);
	if (rc)
		worker_free_request(request);
	return rc;
}

void cpl_worker_load(struct cpl_worker *worker, enum cpl_queue which,
                     int *waiting, int *busy)
{
	const struct queue *queue = &worker->queue[which];

	*waiting = *busy = 0;
	pthread_mutex_lock(&worker->lock);
	for (const struct cpl_request *r = queue->head; r; r = r->next)
		++*waiting;
	for (int i = 0; i < queue->n_threads; i++)
		*busy += queue->thread[i].busy;
	pthread_mutex_unlock(&worker->lock);
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

void cpl_worker_files(struct cpl_worker *worker, enum cpl_queue which, bool now)
{
	struct queue *queue = &worker->queue[which];

	pthread_mutex_lock(&worker->lock);
	for (int l = 0; l < queue->n_threads; l++)
		if (queue->thread[l].started &&
		    pthread_equal(queue->thread[l].handle, pthread_self()))
			queue->thread[l].files_since = now ? cpl_now() : 0;
	pthread_mutex_unlock(&worker->lock);
}

static bool stuck(const struct thread *thread, int64_t since)
{
	return thread->files_since && thread->files_since < since;
}

bool cpl_worker_owner_stuck(struct cpl_worker *worker, enum cpl_queue which,
                            uint64_t owner, int64_t since)
{
	struct queue *queue = &worker->queue[which];
	const struct thread *own;
	bool is;

	pthread_mutex_lock(&worker->lock);
	own = worker_thread_of(queue, owner);
	is = own ? stuck(own, since) : true;
	for (int l = 0; !own && l < queue->n_threads; l++)
		is = is && stuck(&queue->thread[l], since);
	pthread_mutex_unlock(&worker->lock);
	return is;
}

bool cpl_worker_stuck(struct cpl_worker *worker, enum cpl_queue queue,
                      int64_t since)
{
	return cpl_worker_owner_stuck(worker, queue, 0, since);
}

bool cpl_worker_ends(struct cpl_worker *worker)
{
	bool ends;

	pthread_mutex_lock(&worker->lock);
	ends = worker->quit;
	pthread_mutex_unlock(&worker->lock);
	return ends;
}

/* With the lock held: has any queue something to do? */
static bool busy(const struct cpl_worker *worker)
{
	for (int i = 0; i < CPL_QUEUES; i++)
		if (worker->queue[i].head)
			return true;
	for (int i = 0; i < THREADS; i++)
		if (worker->thread[i].busy)
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
	while (worker_alive(worker) &&
	       cpl_cond_wait_until(&worker->change, &worker->lock, deadline))
		;
	for (int i = 0; i < THREADS; i++) {
		struct thread *thread = &worker->thread[i];

		if (!thread->started)
			continue;
		all = all && thread->ended;
		/* One that ended needs the lock no more. */
		if (thread->ended)
			pthread_join(thread->handle, NULL);
		else
			pthread_detach(thread->handle);
	}
	if (!all) {
		worker->orphan = orphan;
		worker->orphan_arg = arg;
	}
	pthread_mutex_unlock(&worker->lock);
	return all;
}
