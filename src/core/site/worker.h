/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that touch files, so that no caller ever waits for a file system
 * longer than it wants to: one for each queue, several for homes, started when
 * they are first needed. A request runs after those queued before it; queues do
 * not wait for each other, nor do owners. One that computes for long says so,
 * since only files can hang.
 *
 * Threads: any may call. A process forked from the one that used the worker
 * first must not.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"

/* Homes that are read at a time; as many that hang hold up all others. */
#define CPL_HOME_THREADS 64

enum cpl_queue {
	CPL_QUEUE_LOOK,  /* is a file there, and is it the one we know? */
	CPL_QUEUE_LOAD,  /* whole files, and what is made of them */
	CPL_QUEUE_MAKE,  /* computing alone; no file */
	CPL_QUEUE_WRITE, /* all writing */
	CPL_QUEUE_HOME,  /* files of users, who are the owners; and others' that
	                  * may take long, of owners of their own */
	CPL_QUEUES,
};

/* The head of what a caller queues. */
struct cpl_request {
	/* On the queue's thread. */
	void (*run)(struct cpl_request *request);
	/* When nobody has it any more, on any thread. NULL: free(). */
	void (*free)(struct cpl_request *request);
	/* Of CPL_QUEUE_HOME: requests of one owner run one by one, on a thread
	 * of theirs meanwhile. */
	uint64_t owner;
	/* The worker's. */
	struct cpl_request *next;
	int refs;
	bool done;
};

struct cpl_worker;

/* Where what uses the worker says what happened: a failure or news. */
typedef void cpl_log_line(void *arg, bool failure, const char *text);

/* NULL with err when memory is out. No thread runs yet. */
struct cpl_worker *cpl_worker_new(struct cpl_error *err);

/*
 * Queue a request, which the worker owns then; with `keep` the caller has it
 * too and must drop it. 0, or -1 with err (memory, no thread, a forked
 * process); the request is then freed. A request NULL is one for which memory
 * was out. O(1); of CPL_QUEUE_HOME O(requests * requests).
 */
int cpl_worker_queue(struct cpl_worker *worker, enum cpl_queue queue,
                     struct cpl_request *request, bool keep,
                     struct cpl_error *err);
/* Have run(arg) called on the queue's thread, between requests, every ns from
 * its first request on, and a last time when it ends. Before that request. */
void cpl_worker_every(struct cpl_worker *worker, enum cpl_queue queue,
                      int64_t ns, void (*run)(void *arg), void *arg);

/* Wait until the request has run or the deadline. True: it has. */
bool cpl_worker_wait(struct cpl_worker *worker, struct cpl_request *request,
                     int64_t deadline);
void cpl_worker_drop(struct cpl_worker *worker, struct cpl_request *request);

/* Within a request, on its thread: files are read or written now (as they are
 * when the request begins), or not any more. */
void cpl_worker_files(struct cpl_worker *worker, enum cpl_queue queue,
                      bool now);

/* Have files held up the queue since before this moment? */
bool cpl_worker_stuck(struct cpl_worker *worker, enum cpl_queue queue,
                      int64_t since);
/* The same of an owner's requests: their own files, or those of as many others
 * as there are threads. O(threads). */
bool cpl_worker_owner_stuck(struct cpl_worker *worker, enum cpl_queue queue,
                            uint64_t owner, int64_t since);

/* Requests that wait in a queue, and threads that have one in hand. O(both). */
void cpl_worker_load(struct cpl_worker *worker, enum cpl_queue queue,
                     int *waiting, int *busy);

/* Is it being stopped? What waits for others within a request need not. */
bool cpl_worker_ends(struct cpl_worker *worker);

/* Wait until no queue has anything to do, at most until the deadline. */
bool cpl_worker_idle(struct cpl_worker *worker, int64_t deadline);

/*
 * End the threads, after what is queued for writing. True: all ended, and the
 * worker can be freed. False: a file system held one beyond the deadline; the
 * last that it lets go calls orphan(arg), which may free the worker.
 */
bool cpl_worker_stop(struct cpl_worker *worker, int64_t deadline,
                     void (*orphan)(void *arg), void *arg);
void cpl_worker_free(struct cpl_worker *worker);
