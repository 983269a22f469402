/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_submit_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum slot_state { EMPTY, QUEUED, RUNNING, DONE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake; /* to the worker */
static pthread_cond_t done; /* from the worker */
static pthread_t thread;
static bool started, stop;
static struct {
	enum slot_state state;
	bool abandoned; /* nobody waits for it any more */
	struct cplsubmit_request request;
	struct cplsubmit_verdict verdict;
} slot;

void cplsubmit_request_free(struct cplsubmit_request *request)
{
	free(request->profile);
	free(request->policy);
	free(request->mapping);
	free(request->job_name);
	free(request->partition);
	memset(request, 0, sizeof(*request));
}

void cplsubmit_verdict_free(struct cplsubmit_verdict *verdict)
{
	free(verdict->message);
	free(verdict->attach);
	free(verdict->comment);
	memset(verdict, 0, sizeof(*verdict));
}

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!stop) {
		if (slot.state != QUEUED) {
			pthread_cond_wait(&wake, &lock);
			continue;
		}
		slot.state = RUNNING;
		/* Nobody touches request and verdict of a running slot. */
		pthread_mutex_unlock(&lock);
		cplsubmit_decide(&slot.request, &slot.verdict);
		pthread_mutex_lock(&lock);
		cplsubmit_request_free(&slot.request);
		slot.state = DONE;
		if (slot.abandoned) {
			cplsubmit_verdict_free(&slot.verdict);
			slot.state = EMPTY;
		}
		pthread_cond_signal(&done);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static bool start(void)
{
	pthread_condattr_t attr;
	sigset_t all, old;

	if (started)
		return true;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &attr);
	pthread_cond_init(&done, &attr);
	pthread_condattr_destroy(&attr);
	/* slurmctld's signals are for slurmctld's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	started = !pthread_create(&thread, NULL, work, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return started;
}

/* Until the slot is in that state, or the budget is over. */
static bool wait_for(enum slot_state state)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += CPLSUBMIT_BUDGET;
	while (slot.state != state)
		if (pthread_cond_timedwait(&done, &lock, &end))
			return slot.state == state;
	return true;
}

bool cplsubmit_ask(struct cplsubmit_request *request,
                   struct cplsubmit_verdict *verdict)
{
	bool answered = false;

	pthread_mutex_lock(&lock);
	if (slot.state == EMPTY && start()) {
		slot.request = *request;
		memset(request, 0, sizeof(*request));
		slot.abandoned = false;
		slot.state = QUEUED;
		pthread_cond_signal(&wake);
		answered = wait_for(DONE);
		if (answered) {
			*verdict = slot.verdict;
			memset(&slot.verdict, 0, sizeof(slot.verdict));
			slot.state = EMPTY;
		}
		slot.abandoned = !answered;
	}
	pthread_mutex_unlock(&lock);
	cplsubmit_request_free(request);
	return answered;
}

bool cplsubmit_worker_fini(void)
{
	bool idle;

	pthread_mutex_lock(&lock);
	idle = slot.state == EMPTY;
	if (!started || !idle) {
		pthread_mutex_unlock(&lock);
		return idle;
	}
	stop = true;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	pthread_cond_destroy(&wake);
	pthread_cond_destroy(&done);
	started = stop = false;
	return true;
}
