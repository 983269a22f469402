/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's side of the core: configuration, network and profiles in
 * memory, the jobs that run now with their load on the links, and decisions
 * under a time budget. The select plugin translates between it and Slurm.
 *
 * Hosts are the scheduler's own indexes, 0 .. n_hosts - 1; the engine knows
 * which of them the network has.
 *
 * Any thread may call; calls are serialised inside. Files are read and written
 * by threads of the engine, started by the first call that needs them, so that
 * no caller waits for a file system longer than its budget. A process forked
 * from this one must not call.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "site/record.h"
#include "site/resolve.h"
#include "site/size.h"

struct cpl_engine;

enum cpl_engine_log { CPL_ENGINE_ERROR, CPL_ENGINE_INFO };

/*
 * An engine that will read config_path; nothing is read and no thread runs
 * yet. log is called on any thread and must not call the engine. NULL with
 * err: memory.
 */
struct cpl_engine *cpl_engine_new(const char *config_path,
                                  void (*log)(enum cpl_engine_log level,
                                              const char *text),
                                  struct cpl_error *err);

/* The cluster whose jobs these are: no other uses its StateDir. Does it hide
 * jobs from other users? Before cpl_engine_load. -1: memory. */
int cpl_engine_set_cluster(struct cpl_engine *engine, const char *name,
                           bool private_jobs, struct cpl_error *err);

/* Write what is queued and free everything. A worker that a file system holds
 * for more than two seconds is left to do so. NULL is allowed. */
void cpl_engine_free(struct cpl_engine *engine);

/*
 * Read configuration and network again where they changed, and look at profiles
 * anew. Waits for at most wait_ms, once a configuration is in force no longer
 * than MaxDecisionTime. 0: what the files say is in force. -1 with err: one is
 * broken (logged; the old configuration stays), or they are still being read
 * and will be in force after that.
 */
int cpl_engine_load(struct cpl_engine *engine, int wait_ms,
                    struct cpl_error *err);

/* The scheduler's hosts by index, NULL: a hole; the names are copied. -1:
 * memory, and no job is placed. O(n). */
int cpl_engine_set_hosts(struct cpl_engine *engine, const char *const *name,
                         int n, struct cpl_error *err);

/*
 * A job's life is four calls: cpl_engine_decide (as often as the scheduler
 * asks), cpl_engine_start, cpl_engine_step for each of its steps,
 * cpl_engine_end. What was decided is kept in between.
 */

/* Hosts in a row: first .. end - 1. */
struct cpl_engine_span {
	int first, end;
};

/* The scheduler, as far as a decision asks it, within cpl_engine_decide; must
 * not call the engine. */
struct cpl_engine_scheduler {
	void *arg;
	/* CPUs of the hosts that are free for this job, 0: not usable; and
	 * their ranks: those of a lower one are filled first. Both [n_hosts],
	 * zeros before. All that are usable are in *span, which is all hosts
	 * before: a decision looks at no others. -1: memory. */
	int (*measure)(void *arg, uint32_t *cpus, uint64_t *rank,
	               struct cpl_engine_span *span);
	/* Give the job all of these hosts. False: refused, nothing changed. `last`:
	 * the decision in words, where nothing else is asked once they are the
	 * job's; NULL: something may be. */
	bool (*place)(void *arg, const int *host, int n, const char *last);
	/* After a refusal: clear cpus[i] of hosts that cannot serve the job. */
	void (*narrow)(void *arg, uint32_t *cpus);
	/* The scheduler's own answer in place of ours: the hosts in node order
	 * into host[n_hosts] (NULL: nowhere) and their number, 0: none now. */
	int (*stock)(void *arg, int *host);
	/* The same before or beside ours, which stays: what it would have been.
	 * Asked once a decision, where at most CompareNodes hosts are free for
	 * the job: it costs what stock costs. The searches have it among their
	 * candidates. */
	int (*compare)(void *arg, int *host);
};

struct cpl_engine_request {
	struct cpl_job_facts job;
	struct cpl_need need;
	int64_t array_id; /* of the job array it is an element of; 0: none */
	int ranks;           /* 0: not stated, the signature's count is meant */
	int n_hosts;         /* as in cpl_engine_set_hosts */
	const int *required; /* host indexes */
	int n_required;
	bool own_order; /* ranks stay in the scheduler's order: the user's */
	bool batch;     /* a script starts its tasks, by whatever it likes */
	/* What the scheduler keeps a job like this to, see placement/bounds.h;
	 * NULL: only to nodes that are free. */
	const char *rules, *units;
	/* The scheduler has segments, the job states none and no other wish about
	 * sets of nodes: with rules, what its signature implies may be wished
	 * for. */
	bool segments;
	/* It is a job of as many nodes as the scheduler itself would give it now,
	 * and of none where it would give none: asked where at most CompareNodes
	 * are free for it. */
	bool by_stock;
	/* Not NULL: for this reason the nodes are the scheduler's choice. */
	const char *stock_reason;
	bool start; /* the answer is kept for cpl_engine_start */
};

enum cpl_engine_answer {
	CPL_ENGINE_NONE,   /* the job is none of ours: nothing was asked */
	CPL_ENGINE_STOCK,  /* stock() was asked last; its answer holds */
	CPL_ENGINE_PLACED, /* place() accepted hosts of ours */
};

/*
 * Decide on the nodes of one job. Whatever goes wrong ends in the stock answer.
 * When place() refuses, hosts are chosen again without those that narrow()
 * clears, or more of them for a job sized by its CPUs, CPL_ENGINE_TRIES times
 * in all. Takes MaxDecisionTime, reading the profile included, besides the
 * scheduler's own time, and less where calls of the last two seconds have used
 * up MaxPassTime; deterministic unless that runs out. text[size] gets the
 * decision in words, for debugging.
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
	struct cpl_job_facts job;
	int ranks;        /* 0: not stated */
	int64_t array_id; /* of the job array it is an element of; 0: none */
	const char *shown_as; /* as in cpl_record */
	const int *host;      /* [n_hosts] host indexes in node order */
	int n_hosts;
	/* Where the scheduler itself runs so many ranks: rank_host[r] =
	 * position in host[]. -1: it would not. */
	int (*layout)(void *arg, int ranks, int *rank_host);
	void *arg;
	/* That order stays: it is the user's, or not ours to change. */
	bool own_order;
	/* The order of its ranks is of use in so many bytes; 0: it is of none. */
	size_t order_max;
};

/* What to tell of a job that begins; "": nothing. */
struct cpl_engine_notice {
	char text[1024]; /* for the log, and to users: */
	bool comment;    /* AdminComment is wanted */
	/* The layout of its ranks as its launchers get it, see
	 * mapping/rank_order.h. free() it; NULL: it has none, or one of order_max
	 * bytes or more, or memory is out. */
	char *order;
};

/*
 * The job begins. What was decided for it, or for its array before it got an id
 * of its own, counts only if it was decided for exactly these hosts. Maps ranks
 * to hosts, adds the job's load to the background and writes its record, within
 * MaxDecisionTime. A job for which nothing was decided gets an order of ranks
 * along the network, where its user or the site wants one.
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
	bool own_order;        /* the user's option: ids stay as they are */
	bool part; /* of a heterogeneous job: its ranks may go on elsewhere */
	size_t limit; /* bytes that may travel; 0: CPL_LAUNCH_MAX_BYTES */
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
 * A step starts: its ranks follow the job's layout at unchanged counts per host
 * (mapped anew within MaxDecisionTime when only the total is the same, once for
 * steps of one shape in a row; in an order that needs no traffic whatever its counts), each
 * row of ids increasing; and what its nodes need to bind is written
 * (binding/launch.h, at most step->limit bytes). A step in the user's own
 * order over the whole job is noted as how the job runs.
 * Whether steps take the layout is remembered of batch jobs, for later ones of
 * their user and profile.
 */
void cpl_engine_step(struct cpl_engine *engine,
                     const struct cpl_engine_step *step,
                     struct cpl_engine_layout *out);

/*
 * What a running job takes along to where its steps are made without an engine
 * (Slurm's stepmgr): the layout of its ranks, and what its nodes need to bind,
 * that is its profile's traffic, or, where this takes more than limit bytes in
 * all, which version of the profile's file to look into. Made within
 * MaxDecisionTime. free() it. NULL: nothing; err, also with data, says what
 * was left out.
 */
unsigned char *cpl_engine_handover(struct cpl_engine *engine,
                                   const struct cpl_job_facts *job,
                                   size_t limit, size_t *size,
                                   struct cpl_error *err);

/*
 * cpl_engine_step there: the layout is followed where the step has its hosts
 * and counts; nothing is mapped anew and nothing noted. Data that is damaged or
 * of another version is refused: -1 with err, and the step is as it was.
 */
int cpl_engine_step_handed(const void *data, size_t size,
                           const struct cpl_engine_step *step,
                           struct cpl_engine_layout *out,
                           struct cpl_error *err);

/* The job is over, or what was decided for it is; unknown ids are ignored. */
void cpl_engine_end(struct cpl_engine *engine, int64_t id);

/* The job's hosts changed: it keeps its nodes but has no layout and no load. */
void cpl_engine_resized(struct cpl_engine *engine, int64_t id, const int *host,
                        int n_hosts);

/* The job's processes stand still (its load is no background), or go on. */
void cpl_engine_suspended(struct cpl_engine *engine, int64_t id, bool stands);

/*
 * After a restart, or when another controller may have run: these jobs run,
 * others do not. Their records in StateDir/running are taken back, the others
 * moved to StateDir/ended. Waits as cpl_engine_load does; what comes later is
 * taken back then.
 */
struct cpl_engine_live {
	int64_t id;
	bool suspended;
};
void cpl_engine_restore(struct cpl_engine *engine,
                        const struct cpl_engine_live *job, int n, int wait_ms);

/* Wait until the worker has nothing to do, at most wait_ms. True: idle. */
bool cpl_engine_idle(struct cpl_engine *engine, int wait_ms);

/*
 * The scheduler ends, or hands its jobs on to another: have all that is to be
 * in StateDir there, records and counts, waiting for it as cpl_engine_idle
 * does. After that nothing is written until the next call about a job.
 */
bool cpl_engine_drain(struct cpl_engine *engine, int wait_ms);

/* What a call may take, in ms: the largest MaxDecisionTime; 0: not known yet.
 * O(1). */
int cpl_engine_patience(struct cpl_engine *engine);

/* The next call ends by then, whatever it may take else (a time of CLOCK_MONOTONIC
 * in ns; its scheduler's own time besides). */
void cpl_engine_hurry(struct cpl_engine *engine, int64_t deadline);

/* The memory that the process may have, MiB; 0: no limit, or not known yet. O(1).
 */
int cpl_engine_memory(struct cpl_engine *engine);

/* The caller measures how long calls hold the scheduler (a kind of enum
 * cpl_timer, see counters.h): the engine does not, from then on. */
void cpl_engine_held(struct cpl_engine *engine, int timer, int64_t ns);

/* Another has had the jobs since the last call, and they come back: nothing that
 * was known of them holds any more. Before cpl_engine_load and
 * cpl_engine_restore, which is then as after a start. O(jobs). */
void cpl_engine_forget(struct cpl_engine *engine);

/*
 * What the engine holds, for who asks; nothing changes by it. A tree of
 * objects, of which `path` names one or what is in it: "/",
 * "/memo/bytes",
 * "/jobs/17". Of jobs those of the user, or all: whose they are goes by the
 * rule of their records. NULL: there is no such thing, to that user, or memory
 * is out. Waits for the call under way and holds up the next one for
 * microseconds: O(jobs that run), or O(hosts of a job).
 */
json_t *cpl_engine_tree(struct cpl_engine *engine, const char *path,
                        uint32_t uid, bool all);
/* Where commplaced answers such questions, in StateDir. */
#define CPL_ENGINE_SOCKET "status.socket"
/* StateDir, into dir[size]. False: it is not known yet to be this cluster's, or
 * longer; or nothing was restored since a drain or from the beginning, as of a
 * backup in standby. */
bool cpl_engine_state_dir(struct cpl_engine *engine, char *dir, size_t size);
