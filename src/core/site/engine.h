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
 * read and written by threads of the engine, started by the first call that
 * needs them, so that no caller ever waits for a file system longer than its
 * budget. A process forked from this one must not call in.
 */
#ifndef CPL_SITE_ENGINE_H
#define CPL_SITE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "site/record.h"
#include "site/resolve.h"
#include "site/size.h"

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
 * The cluster whose jobs these are: its StateDir is used by no other. Does it
 * hide jobs from other users? Before cpl_engine_load. -1: memory.
 */
int cpl_engine_set_cluster(struct cpl_engine *engine, const char *name,
                           bool private_jobs, struct cpl_error *err);

/*
 * Write what is queued, join the worker and free everything. When a file
 * system holds the worker for more than two seconds, the worker is left behind
 * and frees everything when it is let go. NULL is allowed.
 */
void cpl_engine_free(struct cpl_engine *engine);

/*
 * Read the configuration and the network again (files that did not change are
 * not read twice; a broken one is logged), and look at profiles anew. Waits for
 * at most wait_ms, once a configuration is in force no longer than
 * MaxDecisionTime. 0: what the files say now is in force. -1 with err: a file
 * is broken and the old configuration stays in force, or the files are still
 * being read and will be in force when that is done.
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

/*
 * A job's life is four calls: cpl_engine_decide (as often as the scheduler
 * asks), cpl_engine_start, cpl_engine_step for each of its steps,
 * cpl_engine_end. What was decided is kept here in between.
 */

/*
 * The scheduler, as far as a decision asks it; all hosts are indexes. Called
 * within cpl_engine_decide, from its thread; must not call the engine.
 */
struct cpl_engine_scheduler {
	void *arg;
	/*
	 * Free CPUs of the hosts that may be chosen, as the scheduler would
	 * count them for this job; 0: not usable. preferred[i] = 1: the job
	 * fills these hosts first, wherever they hold it. Both of n_hosts
	 * zeros before. -1: out of memory.
	 */
	int (*measure)(void *arg, uint32_t *cpus, unsigned char *preferred);
	/* Give the job these hosts, all of them. False: refused, nothing
	 * changed. */
	bool (*place)(void *arg, const int *host, int n);
	/* Clear cpus[i] of hosts that could not serve the job. Asked after a
	 * refusal. */
	void (*narrow)(void *arg, uint32_t *cpus);
	/*
	 * The scheduler's own answer in place of ours: the hosts in node order
	 * into host[] (n_hosts) and their number, 0 when it has none now.
	 */
	int (*stock)(void *arg, int *host);
	/* Beside ours, which is in place and stays: what its own answer would
	 * have been. Likewise. */
	int (*compare)(void *arg, int *host);
};

struct cpl_engine_request {
	struct cpl_job_facts job;
	struct cpl_need need;
	int ranks;           /* 0: not stated, the signature's count is meant */
	int n_hosts;         /* as in cpl_engine_set_hosts */
	const int *required; /* host indexes */
	int n_required;
	/* Not NULL: the nodes are the stock plugin's for this reason (the
	 * user's own wish); only profile and record are prepared. */
	const char *stock_reason;
	bool start; /* on this answer, which is kept for cpl_engine_start; else
	             * it is a question only */
};

enum cpl_engine_answer {
	CPL_ENGINE_NONE,   /* the job is none of ours: nothing was asked */
	CPL_ENGINE_STOCK,  /* stock() was asked last; its answer holds */
	CPL_ENGINE_PLACED, /* place() accepted hosts of ours */
};

/*
 * Decide on the nodes of one job. Never fails: whatever goes wrong inside ends
 * in the stock answer. Hosts refused by place() are tried again without those
 * that narrow() clears, and jobs sized by their CPUs with more hosts, in all
 * at most CPL_ENGINE_TRIES times. Time: MaxDecisionTime (the reading of the
 * profile included) beside the scheduler's own; deterministic unless that runs
 * out. text gets the decision in words ("placed by auto"), for debugging.
 */
#define CPL_ENGINE_TRIES 4
enum cpl_engine_answer cpl_engine_decide(
        struct cpl_engine *engine, const struct cpl_engine_request *req,
        const struct cpl_engine_scheduler *scheduler, char *text, size_t size);

/* Answers kept of jobs that have not started; the oldest goes first. */
#define CPL_ENGINE_DECIDED_MAX 256

/* What a job has got, when it begins. */
struct cpl_engine_allocation {
	int64_t id;
	int64_t array_id; /* of the job array it is an element of; 0: none */
	const char *shown_as; /* as in cpl_record */
	const int *host;      /* [n_hosts] host indexes in node order */
	int n_hosts;
	/*
	 * Where the scheduler runs so many ranks by itself: rank_host[r] =
	 * position in host[]. -1: it would not.
	 */
	int (*layout)(void *arg, int ranks, int *rank_host);
	void *arg;
	bool own_order; /* that order is the user's wish: it stays */
};

/* What to tell of a job that begins; "": nothing. */
struct cpl_engine_notice {
	char text[1024]; /* for the log, and to users: */
	bool comment;    /* AdminComment is wanted */
};

/*
 * The job begins. What was decided for it counts only when it was decided for
 * exactly these hosts; under the id of its array, when an element got its own
 * id after that. Maps ranks to hosts, adds the job's load to the background and
 * writes its record. Time: MaxDecisionTime.
 */
void cpl_engine_start(struct cpl_engine *engine,
                      const struct cpl_engine_allocation *job,
                      struct cpl_engine_notice *notice);

/* A step of a running job, as the scheduler has laid it out. */
struct cpl_engine_step {
	struct cpl_job_facts job;
	const char *hosts; /* hostlist, n_hosts names */
	int n_hosts, ranks;
	const uint16_t *tasks; /* [n_hosts] */
	uint32_t *const *ids;  /* [n_hosts][tasks[i]] ranks: in and out */
	bool own_order;        /* the user's wish: ids stay as they are */
	bool part; /* it may be one of several that count their ranks together
	            * (components of a heterogeneous job) */
};

/* What becomes of it. */
struct cpl_engine_layout {
	bool changed;        /* ids are by the job's layout */
	unsigned char *data; /* malloc(): travels with the launch, or NULL */
	size_t size;
	struct cpl_error unchanged; /* why, "" when there was none to follow */
	struct cpl_error travel;
};

/*
 * A step starts: its ranks are laid out by the job's layout at unchanged counts
 * per host (looked up, or mapped anew under MaxDecisionTime when only the
 * total is the same), each row of ids increasing; and what its nodes need to
 * bind is written (binding/launch.h, at most CPL_LAUNCH_MAX_BYTES). A step
 * in the user's own order over the whole job is noted as how the job runs.
 * Steps of other jobs cost a look at the configuration.
 */
void cpl_engine_step(struct cpl_engine *engine,
                     const struct cpl_engine_step *step,
                     struct cpl_engine_layout *out);

/* The job is over, or what was decided for it is; unknown ids are ignored. */
void cpl_engine_end(struct cpl_engine *engine, int64_t id);

/* The job's hosts changed: it keeps its nodes but has no layout and no load. */
void cpl_engine_resized(struct cpl_engine *engine, int64_t id, const int *host,
                        int n_hosts);

/* The job's processes stand still (its load is no background), or go on. */
void cpl_engine_suspended(struct cpl_engine *engine, int64_t id, bool stands);

/*
 * After a restart, or when another controller may have run: these jobs run,
 * others do not. Of the records in StateDir/running, those of the given jobs
 * are taken back and the others moved to StateDir/ended. Waits as
 * cpl_engine_load does; what comes later is taken back then.
 */
struct cpl_engine_live {
	int64_t id;
	bool suspended;
};
void cpl_engine_restore(struct cpl_engine *engine,
                        const struct cpl_engine_live *job, int n, int wait_ms);

/* Wait until the worker has nothing to do, at most wait_ms. True: idle. */
bool cpl_engine_idle(struct cpl_engine *engine, int wait_ms);

#endif
