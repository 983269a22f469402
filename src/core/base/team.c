/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/team.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/parallel.h"

/* How often a thread looks for what it waits for before it sleeps; a look takes
 * some 10 ns. */
#define LOOKS 5000

struct cpl_team {
	/* Of the round: set before it is counted. */
	void (*fn)(void *arg, int64_t chunk, int thread);
	void *arg;
	int64_t n_chunks;
	_Atomic int64_t next;
	_Atomic unsigned round;
	_Atomic int working; /* helpers that have not done with the round */
	bool ends;
	/* For those who sleep. */
	pthread_mutex_t lock;
	pthread_cond_t begun, done;
	int n_helpers;
	struct helper {
		struct cpl_team *team;
		pthread_t id;
		int thread;
	} helper[];
};

static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void work(struct cpl_team *team, int thread)
{
	int64_t chunk;

	while ((chunk = atomic_fetch_add(&team->next, 1)) < team->n_chunks)
		team->fn(team->arg, chunk, thread);
}

static void wait_for_round(struct cpl_team *team, unsigned before)
{
	for (int i = 0; i < LOOKS; i++) {
		if (atomic_load(&team->round) != before)
			return;
		pause_a_little();
	}
	pthread_mutex_lock(&team->lock);
	while (atomic_load(&team->round) == before)
		pthread_cond_wait(&team->begun, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

static void *helper_main(void *arg)
{
	const struct helper *helper = arg;
	struct cpl_team *team = helper->team;

	for (unsigned round = 0;; round++) {
		wait_for_round(team, round);
		if (team->ends)
			return NULL;
		work(team, helper->thread);
		if (atomic_fetch_sub(&team->working, 1) > 1)
			continue;
		pthread_mutex_lock(&team->lock);
		pthread_cond_signal(&team->done);
		pthread_mutex_unlock(&team->lock);
	}
}

static void begin_round(struct cpl_team *team)
{
	atomic_store(&team->next, 0);
	atomic_store(&team->working, team->n_helpers);
	pthread_mutex_lock(&team->lock);
	atomic_fetch_add(&team->round, 1);
	pthread_cond_broadcast(&team->begun);
	pthread_mutex_unlock(&team->lock);
}

static void wait_for_helpers(struct cpl_team *team)
{
	for (int i = 0; i < LOOKS; i++) {
		if (!atomic_load(&team->working))
			return;
		pause_a_little();
	}
	pthread_mutex_lock(&team->lock);
	while (atomic_load(&team->working))
		pthread_cond_wait(&team->done, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

static void start_helpers(struct cpl_team *team, int n)
{
	sigset_t all, before;

	/* The helpers inherit this: signals are for the program's own
	 * threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; team->n_helpers < n; team->n_helpers++) {
		struct helper *h = &team->helper[team->n_helpers];

		h->team = team;
		h->thread = team->n_helpers + 1;
		if (pthread_create(&h->id, NULL, helper_main, h))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct cpl_team *cpl_team_new(int threads, struct cpl_error *err)
{
	int n = threads < 1                  ? 0
	        : threads > CPL_PARALLEL_MAX ? CPL_PARALLEL_MAX - 1
	                                     : threads - 1;
	struct cpl_team *team =
	        calloc(1, sizeof(*team) + (size_t)n * sizeof(struct helper));

	if (!team)
		return cpl_fail_null_memory(err);
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->begun, NULL);
	pthread_cond_init(&team->done, NULL);
	start_helpers(team, n);
	return team;
}

int cpl_team_threads(const struct cpl_team *team)
{
	return team ? team->n_helpers + 1 : 1;
}

void cpl_team_free(struct cpl_team *team)
{
	if (!team)
		return;
	team->ends = true;
	begin_round(team);
	for (int i = 0; i < team->n_helpers; i++)
		pthread_join(team->helper[i].id, NULL);
	pthread_cond_destroy(&team->done);
	pthread_cond_destroy(&team->begun);
	pthread_mutex_destroy(&team->lock);
	free(team);
}

void cpl_team_run(struct cpl_team *team, int64_t n_chunks,
                  void (*fn)(void *arg, int64_t chunk, int thread), void *arg)
{
	if (!team || !team->n_helpers || n_chunks < 2) {
		for (int64_t i = 0; i < n_chunks; i++)
			fn(arg, i, 0);
		return;
	}
	team->fn = fn;
	team->arg = arg;
	team->n_chunks = n_chunks;
	begin_round(team);
	work(team, 0);
	wait_for_helpers(team);
}
