/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine has done, counted over restarts of the scheduler: decisions,
 * why the stock answer was taken, and how long things took.
 *
 * Counting is an addition in memory, on any thread and under any lock. A file
 * is touched by cpl_counters_merge alone: what was counted since the last time
 * is added to what the file says, so that several processes may count for one
 * file in turn (a backup controller), and a file that is removed begins anew.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

/* Why the scheduler's own nodes were taken. */
enum cpl_reason {
	CPL_REASON_NONE,
	CPL_REASON_OBSERVE,    /* Mode=observe */
	CPL_REASON_MIN_NODES,  /* fewer nodes than MinNodes */
	CPL_REASON_OPTION,     /* an explicit option of the job's user */
	CPL_REASON_NODES,      /* not enough nodes of the network are free */
	CPL_REASON_REQUIRED,   /* required nodes that are not among them */
	CPL_REASON_NO_PROFILE, /* the policy needs one, the job has none */
	CPL_REASON_MISSING,    /* the profile is not there */
	CPL_REASON_RANKS,      /* it is for another number of ranks */
	CPL_REASON_BROKEN,     /* it cannot be used */
	CPL_REASON_LATE,       /* it is still being read */
	CPL_REASON_REFUSED,    /* the scheduler refused the nodes chosen */
	CPL_REASON_BUSY,       /* the pass has used up its time */
	CPL_REASON_FAILED,     /* time or memory ran out, or anything else */
	CPL_REASON_SILENT,     /* the job sends nothing between nodes */
	CPL_REASON_TRIAL,      /* drawn to stay stock */
	CPL_REASON_STOPPED,    /* the profile's trial went badly */
	CPL_REASONS
};

enum cpl_counter {
	/* Answers of cpl_engine_decide, also those that begin no job. */
	CPL_COUNT_PLACED,
	CPL_COUNT_OBSERVED,
	CPL_COUNT_STOCK,
	/* Decisions that the deadline ended with the best so far. */
	CPL_COUNT_CUT_SHORT,
	/* Answers taken from memory without a search, and those that were
	 * made. */
	CPL_COUNT_CACHE_HIT,
	CPL_COUNT_CACHE_MISS,
	/* Jobs that began and have a record. */
	CPL_COUNT_START_PLACED,
	CPL_COUNT_START_OBSERVED,
	CPL_COUNT_START_STOCK,
	/* Those of them in a trial, by arm. */
	CPL_COUNT_TRIAL_STOCK,
	CPL_COUNT_TRIAL_OURS,
	/* + enum cpl_reason, of the observed and stock answers. */
	CPL_COUNT_REASON,
	CPL_COUNTERS = CPL_COUNT_REASON + CPL_REASONS
};

enum cpl_timer {
	/* A decision, without the scheduler's own answer. */
	CPL_TIME_DECISION,
	/* What the scheduler's locks are held longer because of us, by what it
	 * called for: a submission, nodes of a job, its start, a step, a job's
	 * end, all others. */
	CPL_TIME_HELD_SUBMIT,
	CPL_TIME_HELD_TEST,
	CPL_TIME_HELD_START,
	CPL_TIME_HELD_STEP,
	CPL_TIME_HELD_END,
	CPL_TIME_HELD_OTHER,
	CPL_TIMERS
};

/* Times of at most 0.1, 0.2, 0.5, 1 ... 5000 ms (cpl_counters_bound), and one
 * bucket for the longer ones. */
#define CPL_TIME_BOUNDS 15
#define CPL_TIME_BUCKETS (CPL_TIME_BOUNDS + 1)

struct cpl_histogram {
	uint64_t bucket[CPL_TIME_BUCKETS];
	uint64_t sum;     /* ns */
	uint64_t longest; /* ns; in memory: since the last merge */
};

/* {0} is none counted yet. */
struct cpl_counters {
	uint64_t count[CPL_COUNTERS];
	struct cpl_histogram time[CPL_TIMERS];
	int64_t since; /* seconds since 1970, of a file: when it began */
};

/* O(1), no lock. */
void cpl_count(struct cpl_counters *counters, enum cpl_counter which);
/* Something took so long. The same. */
void cpl_observe(struct cpl_counters *counters, enum cpl_timer which,
                 int64_t ns);

/* What counters are called in files and metrics: what is counted, the label
 * that tells those of a kind apart (NULL: there is one only) and its value. All
 * are lower-case letters and "_". */
struct cpl_counter_name {
	const char *what, *label, *value;
};
struct cpl_counter_name cpl_counter_name(enum cpl_counter which);
struct cpl_counter_name cpl_timer_name(enum cpl_timer which);
/* Its value, such as "min_nodes". */
const char *cpl_reason_name(enum cpl_reason reason);
/* "wish": as user or site want it. "state": the cluster has nothing better now.
 * "fallback": something is amiss. */
const char *cpl_reason_kind(enum cpl_reason reason);

/* In seconds, of bucket 0 .. CPL_TIME_BOUNDS - 1. */
double cpl_counters_bound(int bucket);
/* Times measured: the sum of the buckets. */
uint64_t cpl_histogram_count(const struct cpl_histogram *times);

/* The file's content: {"format": "commplace-counters", ...}. NULL: memory. */
json_t *cpl_counters_json(const struct cpl_counters *counters);

/* "STATE_DIR/counters.json"; the caller frees it. */
char *cpl_counters_path(const char *state_dir, struct cpl_error *err);

/*
 * Read such a file. Counters that it lacks are 0, those that are not known are
 * left out, and times in other buckets than ours too, so that versions may
 * differ. 0; 1 where there is no file: all are 0. -1 with err.
 */
int cpl_counters_load(const char *path, struct cpl_counters *out,
                      struct cpl_error *err);
/* Its text. */
int cpl_counters_parse(const char *text, size_t length, const char *name,
                       struct cpl_counters *out, struct cpl_error *err);

/*
 * Add what was counted since *seen to the file, atomically, and note it there;
 * nothing is written where nothing was. A file that is damaged is replaced, and
 * err says so with 0. `now`: seconds since 1970. -1 with err: it cannot be
 * read or written, and the next call adds it. One thread at a time.
 */
int cpl_counters_merge(struct cpl_counters *counters, struct cpl_counters *seen,
                       const char *path, int64_t now, struct cpl_error *err);
