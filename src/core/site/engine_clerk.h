/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's clerk: it reads and writes files, by its worker, and says what
 * is to be said. It knows of no job that runs and decides nothing: what the
 * worker has read is staged until a caller adopts it.
 *
 * `lock` guards what stands below it, is held briefly, and with no other lock
 * taken meanwhile. What is above it is set when the engine is made, but for the
 * cluster, which callers read and change with the engine's `api` held, and the
 * counters, which are atomic.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "learn/learned.h"
#include "measured/measured.h"
#include "network/network.h"
#include "routing/routing.h"
#include "signature/signature.h"
#include "site/config.h"
#include "site/counters.h"
#include "site/engine.h"
#include "site/record_dir.h"
#include "site/resolve.h"
#include "site/store.h"
#include "site/trial.h"
#include "site/volumes.h"
#include "site/worker.h"

/* Configuration, network and routing that belong together; never changed. */
struct snapshot {
	atomic_int refs;
	struct cpl_config *config;
	int most_decision_ms;    /* the largest MaxDecisionTime of any line */
	struct cpl_network *net; /* NULL only with Mode=off */
	const struct cpl_routing *routing;
	const struct cpl_routing *stated; /* as of cpl_decide_request */
	struct cpl_learned
	        *learned; /* TimeModel, where an objective needs it */
	char *model_file; /* the version that it is, or TimeModel itself */
	struct cpl_trial_state trial; /* with TrialStop */
	struct cpl_file_mark config_mark, net_mark, model_mark, trial_mark;
};

/* A record taken back after a restart. */
struct restored {
	struct restored *next;
	struct cpl_record *record;
};

/* Links as measured, for the network of a snapshot. */
struct measured_set {
	struct snapshot *snapshot; /* a reference */
	struct cpl_measured links;
};

struct clerk {
	char *config_path;
	void (*log)(enum cpl_engine_log level, const char *text);
	char *cluster; /* NULL: not told */
	bool private_jobs;
	struct cpl_worker *worker;
	struct cpl_store *store;
	struct cpl_record_dir *records;
	struct cpl_counters counters;
	/* engine_kept.c has something to write: of samples, of volumes. */
	atomic_bool keeping[2];

	pthread_mutex_t lock;
	struct snapshot *staged;
	char *profile_dir; /* of the configuration in force */
	bool loaded;       /* ever; the next are of the last good load */
	struct cpl_file_mark config_mark, net_mark, model_mark, trial_mark;
	char *last_network; /* file of that load; the worker's */
	char *last_model;   /* the same, NULL: none was read */
	char *last_trial;   /* the same, also where it is not there */
	bool last_routes;   /* it names a file of routes, read each time */
	char loaded_at[32]; /* that load */
	struct restored *restored;
	struct cpl_error last_logged;
	/* Whose MeasuredLinks is read, a reference; NULL: nothing is. */
	struct snapshot *measuring;
	int64_t measure_next;           /* when again (cpl_now) */
	bool measure_busy;              /* a request has it in hand */
	/* The source that failed last, which was said; NULL: it did not fail.
	 */
	char *measure_failed;
	bool measure_partly;   /* of rows of it alone */
	double measure_newest; /* seconds since 1970: a sample, or the start */
	struct measured_set *measured; /* for the next caller to take, or NULL */
	struct cpl_volumes *volumes;   /* the same, of before a restart */
};

/* engine_clerk.c */

/* Budget of core requests; arg is a deadline (int64_t, cpl_now). */
bool engine_expired(void *arg);

void engine_log(struct clerk *clerk, enum cpl_engine_log level, const char *fmt,
                ...) __attribute__((format(printf, 3, 4)));

/* Replace *field by a copy of text (NULL stays NULL). -1: memory. */
int engine_set(char **field, const char *text);

/* Who may read records: what RecordAccess=slurm comes to here, too. */
enum cpl_record_access engine_record_access(const struct clerk *clerk,
                                            const struct cpl_config *config);

/* References; the last one dropped frees it. NULL is allowed. Any thread. */
struct snapshot *engine_snapshot_hold(struct snapshot *snapshot);
void engine_snapshot_drop(struct snapshot *snapshot);

/* cpl_store_find for what a job has, by its user's word or a rule's: the user's
 * own ones, if the user is known, and those of ProfileDir that the user may
 * read.
 */
void engine_find_profile(struct clerk *clerk, const struct cpl_config *config,
                         const struct cpl_job_facts *job,
                         const struct cpl_resolved *want, int ranks,
                         int64_t deadline, struct cpl_store_answer *answer);

/* engine_links.c */

/* Read MeasuredLinks of this snapshot from now on (NULL: of none), at once for a
 * start. */
void engine_links_watch(struct clerk *clerk, struct snapshot *snapshot);
/* Of a struct clerk, every ENGINE_LINKS_NS: begin to read where it is time;
 * sources that hang hold up nobody else. */
#define ENGINE_LINKS_NS INT64_C(1000000000)
void engine_links_tick(void *arg);
/* NULL is allowed. */
void engine_measured_free(struct measured_set *set);

/* engine_load.c */

/* Have the worker read configuration and network, and wait for it. 0: what
 * they say now is staged. -1 with err. */
int engine_load(struct clerk *clerk, int64_t deadline, struct cpl_error *err);
