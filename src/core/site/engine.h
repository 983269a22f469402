/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's side of the core: configuration, network and profiles held
 * in memory, the jobs that run now with the load they put on the links, and
 * decisions under a time budget. No Slurm in it: the select plugin translates.
 *
 * Hosts are named by the scheduler's own index, 0 .. n_hosts - 1
 * (cpl_engine_set_hosts); the engine knows which of them the network has.
 *
 * Threads: any thread may call, calls are serialised inside. All files are
 * read and written by one worker thread of the engine, started by the first
 * call that needs it, so that no caller ever waits for a file system longer
 * than its budget. A process forked from this one must not call in.
 */
#ifndef CPL_SITE_ENGINE_H
#define CPL_SITE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "signature/excerpt.h"
#include "site/record.h"
#include "site/state.h"

struct cpl_engine;

enum cpl_engine_log { CPL_ENGINE_ERROR, CPL_ENGINE_INFO, CPL_ENGINE_DEBUG };

/*
 * An engine that will read config_path; nothing is read and no thread runs
 * yet. log is called from callers and from the worker, so it must be
 * thread-safe; it must not call the engine. NULL with err when memory is out.
 */
struct cpl_engine *cpl_engine_new(const char *config_path,
                                  void (*log)(enum cpl_engine_log level,
                                              const char *text),
                                  struct cpl_error *err);

/*
 * Write what is queued, join the worker and free everything. When a file
 * system holds the worker for more than two seconds, the worker is left behind
 * and frees everything when it is let go. NULL is allowed.
 */
void cpl_engine_free(struct cpl_engine *engine);

/*
 * Read the configuration and the network again (files that did not change are
 * not read twice; a broken one is logged). Waits for at most wait_ms. 0: what
 * the files say now is in force. -1 with err: a file is broken and the old
 * configuration stays in force, or the files are still being read and will be
 * in force when that is done.
 */
int cpl_engine_load(struct cpl_engine *engine, int wait_ms,
                    struct cpl_error *err);

/*
 * The scheduler's hosts by index; NULL entries are holes. The names are
 * copied; a table that equals the last one costs O(n) comparisons only. -1
 * when memory is out (no job is then placed). O(n).
 */
int cpl_engine_set_hosts(struct cpl_engine *engine, const char *const *name,
                         int n, struct cpl_error *err);

/* A job as the scheduler knows it. Texts may be NULL; wishes are untrusted. */
struct cpl_engine_job {
	int64_t id;
	uint32_t uid;
	const char *name;
	const char *partition;
	const char *profile; /* what the user asked for; "none": no profile,
	                      * Match rules do not apply either */
	const char *policy;
	const char *mapping;
};

/*
 * Does the site or the user ask for anything but the stock answer for this
 * job (a profile, by wish or Match rule; a policy, by wish or default) and is
 * the engine in force and not off? Jobs of which it says false are to be left
 * entirely alone. O(rules).
 */
bool cpl_engine_concerns(struct cpl_engine *engine,
                         const struct cpl_engine_job *job);

/* Clear host[i] (n entries) where the network does not have host i. O(n). */
void cpl_engine_known(struct cpl_engine *engine, unsigned char *host, int n);

struct cpl_engine_request {
	struct cpl_engine_job job;
	int nodes_wanted;
	int ranks;          /* 0: not stated, the signature's count is meant */
	int ranks_per_node; /* 0: ranks spread evenly, ceil(ranks / nodes) */
	int n_hosts;        /* as in cpl_engine_set_hosts */
	const unsigned char *free; /* [n_hosts], 1: may be chosen */
	const int *required;       /* host indexes, each free */
	int n_required;
	/* Not NULL: the nodes are the stock plugin's for this reason (the
	 * user's own wish); only profile and record are prepared. */
	const char *stock_reason;
	bool record_free; /* list the free hosts in the record */
};

struct cpl_engine_answer {
	bool place; /* use host[]; else the stock answer */
	int n_hosts;
	int *host;          /* [n_hosts] host indexes in rank order, or NULL */
	const char *reason; /* why not, "" when placed; part of record */
	struct cpl_record *record;          /* NULL only when memory is out */
	struct cpl_engine_profile *profile; /* private */
};

/*
 * Decide on the nodes of one job. Never fails: whatever goes wrong inside ends
 * in place == false with a reason. Time: MaxDecisionTime, the reading of the
 * profile included; deterministic unless that runs out. The answer must go to
 * cpl_engine_accept or cpl_engine_answer_free.
 */
void cpl_engine_decide(struct cpl_engine *engine,
                       const struct cpl_engine_request *req,
                       struct cpl_engine_answer *answer);
void cpl_engine_answer_free(struct cpl_engine *engine,
                            struct cpl_engine_answer *answer);

/*
 * State what the stock plugin would have chosen (host indexes in node order,
 * ranks in blocks): fills stock_hosts and its congestions in the record. Does
 * nothing when it cannot.
 */
void cpl_engine_baseline(struct cpl_engine *engine,
                         struct cpl_engine_answer *answer, const int *host,
                         int n_hosts);

/*
 * The scheduler refused the answer's nodes, for this reason: the stock answer
 * is used.
 */
void cpl_engine_refused(struct cpl_engine_answer *answer, const char *reason);

/*
 * The job is about to start on this answer (or on the stock answer, where
 * place is false): keep it for cpl_engine_start. Takes the answer. At most
 * CPL_ENGINE_DECIDED_MAX are kept, the oldest goes first.
 */
#define CPL_ENGINE_DECIDED_MAX 256
void cpl_engine_accept(struct cpl_engine *engine,
                       struct cpl_engine_answer *answer);

/* A job accepted under one id starts under another (the elements of a job
 * array get theirs late). Unknown ids are ignored. */
void cpl_engine_renumber(struct cpl_engine *engine, int64_t from, int64_t to);

/* Ranks of a job accepted last, 0 when unknown or no such job. */
int cpl_engine_ranks(struct cpl_engine *engine, int64_t id);

/*
 * A job accepted before has got these hosts (indexes) with slots[] ranks each,
 * in node order (sum = cpl_engine_ranks, or all 0 when that is unknown). Plans
 * rank -> host, adds the job's load to the background and writes its record.
 * text gets one line for logs and AdminComment. Returns 1, or 0 when the job
 * is not ours (text is ""). Time: MaxDecisionTime.
 */
int cpl_engine_start(struct cpl_engine *engine, int64_t id, const int *host,
                     const int *slots, int n_hosts, char *text, size_t size);

/*
 * Layout of a step of a running job with slots[h] ranks on host h (indexes):
 * rank_host[r] = position in host[]. Looked up when the hosts and counts are
 * those of the job's plan, computed under MaxDecisionTime when only the total
 * is. 1: filled; 0: leave the step as it is, err says why.
 */
int cpl_engine_layout(struct cpl_engine *engine, int64_t id, const int *host,
                      const int *slots, int n_hosts, int ranks, int *rank_host,
                      struct cpl_error *err);

/* Does the engine have a plan for this running job? O(log jobs). */
bool cpl_engine_has_plan(struct cpl_engine *engine, int64_t id);

/*
 * The traffic of the job's profile inside each node of a step, to travel with
 * its launch (see signature/excerpt.h; at most CPL_EXCERPT_MAX_BYTES). Returns
 * it, to be free()d; NULL without err when the job has no profile or nothing
 * is to be bound (DefaultBinding=none, Mode other than on), NULL with err when
 * it cannot be had. Time: MaxDecisionTime for reading the profile, and
 * O(entries of the profile + ranks).
 */
unsigned char *cpl_engine_excerpt(struct cpl_engine *engine,
                                  const struct cpl_engine_job *job,
                                  const struct cpl_excerpt_step *step,
                                  size_t *size, struct cpl_error *err);

/* The job's hosts changed: it keeps its nodes but has no plan and no load. */
void cpl_engine_resized(struct cpl_engine *engine, int64_t id, const int *host,
                        int n_hosts);

/* The job is over; unknown ids are ignored. */
void cpl_engine_end(struct cpl_engine *engine, int64_t id);

/*
 * After a restart, or when another controller may have run: these jobs run,
 * others do not. Of the records in StateDir/running, those of the given jobs
 * are taken back and the others moved to StateDir/ended. Waits for at most
 * wait_ms; what comes later is taken back then.
 */
void cpl_engine_restore(struct cpl_engine *engine, const int64_t *id, int n,
                        int wait_ms);

/* The running jobs as STATE.json has them, with profile paths. Free with
 * cpl_state_free. 0, or -1 with err. */
int cpl_engine_export(struct cpl_engine *engine, struct cpl_state *out,
                      struct cpl_error *err);

/* Wait until the worker has nothing to do, at most wait_ms. True: idle. */
bool cpl_engine_idle(struct cpl_engine *engine, int wait_ms);

#endif
