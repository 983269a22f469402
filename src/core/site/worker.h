/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that touch files, so that no caller ever waits for a file system
 * longer than it wants to: one for each lane, started when the lane is first
 * used. A task runs on its lane after those queued there before it; lanes do
 * not wait for each other. A task that computes for long says so, since only
 * reading and writing can hang.
 *
 * Threads: any may call. A process forked from the one that used the worker
 * first must not.
 */
#ifndef CPL_SITE_WORKER_H
#define CPL_SITE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum cpl_lane {
	CPL_LANE_LOOK,  /* is a file there, and is it the one we know? */
	CPL_LANE_LOAD,  /* whole files, and what is made of them */
	CPL_LANE_WRITE, /* all writing */
	CPL_LANES,
};

/* The head of what a caller queues. */
struct cpl_task {
	/* On the lane's thread. */
	void (*run)(struct cpl_task *task);
	/* When nobody has the task any more, on any thread. */
	void (*free)(struct cpl_task *task);
	/* The worker's. */
	struct cpl_task *next;
	int refs;
	bool done;
};

struct cpl_worker;

/* Nanoseconds of CLOCK_MONOTONIC: deadlines are in it. */
int64_t cpl_now(void);
/* Have a condition wait by that clock. */
void cpl_cond_init(pthread_cond_t *cond);
/* Wait for cond until the deadline. False: it has passed. */
bool cpl_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                         int64_t deadline);

/* NULL with err when memory is out. No thread runs yet. */
struct cpl_worker *cpl_worker_new(struct cpl_error *err);

/*
 * Queue a task, which the worker owns then; with `keep` the caller has it too
 * and must drop it. 0, or -1 with err (memory, no thread, a forked process);
 * the task is then freed. A task NULL is one for which memory was out. O(1).
 */
int cpl_worker_queue(struct cpl_worker *worker, enum cpl_lane lane,
                     struct cpl_task *task, bool keep, struct cpl_error *err);
/* Wait until the task has run or the deadline. True: it has. */
bool cpl_worker_wait(struct cpl_worker *worker, struct cpl_task *task,
                     int64_t deadline);
void cpl_worker_drop(struct cpl_worker *worker, struct cpl_task *task);

/* Within a task: files are read or written now (as they are when the task
 * begins), or not any more. */
void cpl_worker_files(struct cpl_worker *worker, enum cpl_lane lane, bool now);

/* Have files held up the lane since before this moment? */
bool cpl_worker_stuck(struct cpl_worker *worker, enum cpl_lane lane,
                      int64_t since);

/* Wait until no lane has anything to do, at most until the deadline. */
bool cpl_worker_idle(struct cpl_worker *worker, int64_t deadline);

/*
 * End the threads. What is still to be written is written, what is still to be
 * read is not. True: all ended, and the worker can be freed. False: a file
 * system held one beyond the deadline; orphan(arg) is called on the last thread
 * that it lets go, which may free the worker.
 */
bool cpl_worker_stop(struct cpl_worker *worker, int64_t deadline,
                     void (*orphan)(void *arg), void *arg);
void cpl_worker_free(struct cpl_worker *worker);

#endif
