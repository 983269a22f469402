/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the worker's queues (worker.c) and its threads (worker_threads.c).
 * All is under the worker's lock. */
#pragma once

#include <unistd.h>

#include "site/worker.h"

/* A thread of a queue. */
struct thread {
	struct queue *queue;
	pthread_t handle;
	bool started, ended;
	bool busy;
	uint64_t owner;      /* of the request in hand */
	int64_t files_since; /* 0: that one touches no file now */
};

struct queue {
	struct cpl_worker *worker;
	struct thread *thread;
	int n_threads;
	struct cpl_request *head, *tail;
	void (*every)(void *arg); /* or NULL */
	void *every_arg;
	int64_t every_ns, next;
};

#define THREADS (CPL_QUEUES - 1 + CPL_HOME_THREADS)

struct cpl_worker {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct queue queue[CPL_QUEUES];
	struct thread thread[THREADS];
	bool quit;
	pid_t owner; /* 0: no thread was started yet */
	void (*orphan)(void *arg);
	void *orphan_arg;
};

/* Start a thread where those that there are have enough to do. -1 with err only
 * where there is none. */
int worker_start(struct queue *queue, struct cpl_error *err);

/* The thread that has a request of an owner in hand; NULL: none. */
struct thread *worker_thread_of(const struct queue *queue, uint64_t owner);

/* Threads that have not ended. */
int worker_alive(const struct cpl_worker *worker);

/* One reference less; the lock is given up for the request's own free(). */
void worker_unref(struct cpl_worker *worker, struct cpl_request *request);
void worker_free_request(struct cpl_request *request);
