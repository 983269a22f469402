/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the engine, three with a job each: the clerk reads and writes, the
 * ledger has the jobs that run, the desk decides. What a function takes of them
 * is what it may touch. A caller holds `api` for the whole of a call; it guards
 * ledger and desk. Callers and the worker hold the clerk's `lock` briefly; it
 * guards what the worker stages for the next caller to adopt. The worker never
 * takes `api`, and nobody does with `lock` held.
 */
#pragma once

#include "site/engine_clerk.h"
#include "site/engine_desk.h"
#include "site/engine_ledger.h"

struct cpl_engine {
	pthread_mutex_t api;
	struct clerk clerk;
	struct ledger ledger;
	struct desk desk;
	bool held_elsewhere; /* how long calls take is told, see cpl_engine_held
	                      */
};

/* Begin and end a call of the scheduler's, with `api` held in between; the time
 * is counted, but for what was the scheduler's own (ns). */
int64_t engine_enter(struct cpl_engine *engine);
void engine_leave(struct cpl_engine *engine, enum cpl_timer timer,
                  int64_t entered, int64_t theirs);

/* Take what the worker has staged; with `api` held, at the start of calls. */
void engine_adopt(struct cpl_engine *engine);

/*
 * The most ranks that a job on so many hosts is placed or laid out with: what
 * that takes grows with them, and -n with --overcommit may be any number. A
 * host with more than a few thousand is none (Slurm itself counts them in 16
 * bits), and no profile has more than CPL_SIGNATURE_MAX_RANKS.
 */
#define ENGINE_HOST_RANKS 4096
static inline int engine_most_ranks(int n_hosts)
{
	const int most = CPL_SIGNATURE_MAX_RANKS;

	return n_hosts < most / ENGINE_HOST_RANKS ? n_hosts * ENGINE_HOST_RANKS
	                                          : most;
}

/* Who a job's time is counted for; -1: not known. */
static inline int64_t engine_user_of(const struct cpl_job_facts *job)
{
	return job->has_uid ? (int64_t)job->uid : -1;
}
