/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's ledger: the jobs that run and what they put on the links. It
 * knows nothing of what is decided. All of it is read and changed with the
 * engine's `api` held, but for `on_worker`, which is the worker's.
 */
#pragma once

#include "scene/scene.h"
#include "site/engine_clerk.h"
#include "site/sample.h"
#include "traffic/times.h"
#include "traffic/workload.h"

/* How ranks were mapped for a step of other counts than the job's layout has:
 * the next ones of that shape follow it. */
struct step_order {
	int n_hosts, ranks;
	int *node, *slots; /* [n_hosts] */
	int *rank_host;    /* [ranks] position in node[] */
};

struct running {
	int64_t id;
	struct cpl_record *record; /* hosts and layout */
	bool traffic; /* it has a profile that fits, as far as is known */
	struct cpl_profile *profile; /* held until the load is made, or NULL */
	bool has_layout;             /* steps follow it */
	bool ordered;   /* any step's ranks are laid along the network */
	bool own_order; /* but rank_host is how its user runs it */
	int *plan; /* [ranks] ours meanwhile, as rank_host; NULL: not known */
	bool suspended;            /* no load, until it goes on */
	bool load_made;            /* for the snapshot in force: */
	struct cpl_job_load *load; /* NULL: it has none, or not yet */
	struct making *making;     /* its load, under way, or NULL */
	/* Without a profile that fits, and Unknown: bytes/s that each of its nodes
	 * is taken to send; 0: nothing is. */
	double volume;
	/* Not NULL: `load` is its share of what was measured, and this, which
	 * is in no scene, the one by volume; both have the same links. */
	struct cpl_job_load *shape;
	double sends; /* bytes/s between its nodes by its profile, or 0 */
	struct step_order step;    /* the last one; no ranks: none */
};

/* What loads of jobs are made with, by one thread at a time. */
struct load_scratch {
	struct snapshot *snapshot; /* that it is for; a reference, or NULL */
	struct cpl_workload *workload;
};

/* A job that has ended, but was measured while it ran. */
struct gone {
	struct cpl_job_load *load;
	int64_t began, ended; /* seconds since 1970 */
	bool unknown;         /* it had its share of what was measured */
};

/* What others than our own jobs send, as measured. */
struct rest {
	struct measured_set *sample; /* the newest, or NULL */
	bool waits;                  /* it is not in the scene yet */
	struct cpl_job_load *load;   /* what is, of it or one before; or NULL */
	char told[128];              /* for records, of that */
	int64_t id;                  /* for records, too; greater: later */
	bool kept;                   /* it is in a file for replays */
	struct gone *gone;           /* [n_gone], with MeasuredLinks */
	int n_gone;
};

struct ledger {
	struct clerk *clerk; /* of the same engine */
	struct snapshot
	        *snapshot;       /* that loads are for; a reference, or NULL */
	struct running *running; /* in id order */
	int n_running;
	struct cpl_scene scene; /* of the snapshot, with their loads */
	struct rest rest;       /* in it */
	int64_t sample_id;      /* of the last one that was in it */
	bool settled;   /* it is complete; else jobs are to be looked at */
	uint64_t state; /* another number: the scene is another */
	struct load_scratch on_caller, on_worker;
	struct cpl_engine_live *live; /* [n_live] of the last restore that have
	                               * not ended since, by id */
	int n_live;
	bool restore_waits, was_restored;
	bool in_charge; /* of the jobs, which a backup in standby is not */
	struct cpl_volumes volumes; /* of runs that were measured */
	int64_t volumes_next; /* when they may be written again (cpl_now) */
};

/* engine_running.c */

void engine_step_order_free(struct step_order *order);

struct running *engine_running_find(const struct ledger *ledger, int64_t id);
/* Takes record and the profile's reference, also when it fails. */
struct running *engine_running_add(struct ledger *ledger,
                                   struct cpl_record *record,
                                   struct cpl_profile *profile);
void engine_running_remove(struct ledger *ledger, struct running *job);
/* Of struct cpl_engine_live, by id: for qsort and bsearch. */
int engine_live_order(const void *a, const void *b);
/* The job has ended: a record of it that is still being read does not run. O(log
 * jobs) comparisons, and a move of those behind it. */
void engine_live_remove(struct ledger *ledger, int64_t id);
/* Remove those that are not to be kept. O(running), besides their loads. */
void engine_running_keep(struct ledger *ledger,
                         bool (*keep)(void *arg, int64_t id), void *arg);
/* A reference to the job's profile, out of the store if need be. NULL with
 * err. */
struct cpl_profile *engine_running_profile(const struct ledger *ledger,
                                           const struct running *job,
                                           int64_t deadline,
                                           struct cpl_error *err);
/* The same for a step of so many ranks (0: those of the profile) that wants it,
 * or where its job (may be NULL) holds none, or another one,
 * engine_find_profile.
 */
void engine_step_profile(struct clerk *clerk, const struct running *job,
                         const struct cpl_config *config,
                         const struct cpl_job_facts *facts,
                         const struct cpl_resolved *want, int ranks,
                         int64_t deadline, struct cpl_store_answer *answer);
void engine_ledger_free(struct ledger *ledger);
/* The job's ranks run elsewhere: its load is made anew. */
void engine_running_changed(struct ledger *ledger, struct running *job);
/* It begins or ceases to stand still: the load that it has counts, or not. -1
 * with err (memory): it is to be made anew. */
int engine_running_count(struct ledger *ledger, struct running *job,
                         struct cpl_error *err);
/* Have the worker make the loads that are missing. 0; 1: profiles of some are
 * still being read, for another call; -1 with err (memory). */
int engine_running_begin(struct ledger *ledger, struct cpl_error *err);
/* The network is that of another snapshot: all loads are to be made anew, by
 * engine_running_begin or the next decision. */
void engine_running_stale(struct ledger *ledger, struct snapshot *snapshot);
/*
 * The scene with the loads of all that run; NULL with err when memory is out or
 * the deadline (ns) passed before they were made. Of a job whose profile has no
 * times the bytes are sent in the time that its busiest link takes for them.
 * Notes the jobs counted in the record (NULL: nowhere). O(running jobs), and of
 * jobs that are new or gone O(their links * jobs on them).
 */
struct cpl_scene *engine_scene(struct ledger *ledger, struct cpl_record *record,
                               int64_t deadline, struct cpl_error *err);
/* A job of this profile (NULL: it has none) in it. */
struct cpl_scene_job engine_scene_job(const struct cpl_profile *profile,
                                      int ranks_per_node);

/* engine_handover.c */

/* As struct cpl_engine_notice's order, of a running job. O(ranks). */
char *engine_rank_order(const struct ledger *ledger, int64_t id, size_t limit);

/* engine_rest.c: what is measured and not predicted stands in the scene as the
 * load of a job. It is found when a sample is taken, with the jobs that ran at
 * its time, and stays so until the next one: starts and ends of jobs change what
 * is predicted alone. */

/* A sample, which it takes; NULL: there is no new one. */
void engine_rest_take(struct ledger *ledger, struct measured_set *set);
/* Before the scene is looked at, with all loads in it that can be had: put in what
 * came, and take out what is too old. -1 with err: memory. O(1), of a new sample
 * O(its links + those of the running jobs). */
int engine_rest_put(struct ledger *ledger, struct cpl_error *err);
/* The job ends: its load leaves the scene, and is kept where a sample to come may
 * have it. */
void engine_rest_gone(struct ledger *ledger, struct running *job);
/* What is in the scene of a sample is another: it has a number of its own. O(1). */
void engine_rest_renew(struct ledger *ledger);
/* The network is another one. */
void engine_rest_forget(struct ledger *ledger);

/* engine_unknown.c: jobs that run without a signature. What they are taken to send
 * goes by what is known when they start, and is on their records: decisions can be
 * made again. */

/* Does the site want them in the background? */
bool engine_unknown_wanted(const struct ledger *ledger);
/* Bytes/s of a node of such a job that starts now; 0: it has none. O(running
 * jobs). */
double engine_unknown_volume(struct ledger *ledger,
                             const struct cpl_record *record);
/* How much a job with a profile sends. O(its traffic), and not more than some
 * thousand ranks of it. */
void engine_unknown_note_known(struct running *job);
/* Does the job stand with its share of what is measured, once that is known? */
bool engine_unknown_shared(const struct ledger *ledger,
                           const struct running *job);
/* They stand by their volumes again. O(links of all jobs). */
void engine_unknown_forget(struct ledger *ledger);
/* The newest sample's rest is shared among them; *rest is what is left. -1 with
 * err: memory, and they stand by their volumes. As cpl_unknown_share, besides the
 * links of all jobs. */
int engine_unknown_share(struct ledger *ledger, struct cpl_job_load **rest,
                         struct cpl_error *err);

/* engine_kept.c: in files of StateDir, by the worker. */

/* Have volumes of before a restart read; behind a restore. */
void engine_volumes_read(struct ledger *ledger);
/* They have come (NULL: none), and are the ledger's. */
void engine_volumes_take(struct ledger *ledger, struct cpl_volumes *volumes);
/* Have those that changed written: now, or when it is time. O(CPL_VOLUMES) then. */
void engine_volumes_keep(struct ledger *ledger, bool now);
/* A decision with that sample (0: none) is on record: have what is in the scene of
 * it written, once. O(its links). */
void engine_sample_keep(struct ledger *ledger, int64_t id);

/* engine_loads.c: the load of a job, made by the worker or by the first who
 * needs it. */

/*
 * By the record's layout and that profile, whose reference it takes; without one
 * (NULL) as a job whose nodes send so much each (volume, bytes/s) to each other.
 * NULL with err: memory, or a host that is not in the network.
 */
struct making *engine_load_begin(struct ledger *ledger,
                                 const struct cpl_record *record,
                                 struct cpl_profile *profile, double volume,
                                 struct cpl_error *err);
/* Wait for it until the deadline, or make it. True: *load is it, or NULL with
 * err (memory). False with err: the deadline. */
bool engine_load_end(struct ledger *ledger, struct making *making,
                     int64_t deadline, struct cpl_job_load **load,
                     struct cpl_error *err);
/* NULL is allowed. */
void engine_load_drop(struct ledger *ledger, struct making *making);
void engine_load_scratch_free(struct load_scratch *scratch);
