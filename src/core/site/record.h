/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decision records: what was decided for a job and why, in
 * StateDir/running/JOBID.json while it runs and StateDir/ended/JOBID.json
 * after. `commplace explain` and `status` read them, and slurmctld rebuilds its
 * background load from them.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mapping/mapping.h"
#include "placement/decide.h"
#include "site/state.h"

struct cpl_record_candidate {
	char *policy;
	uint64_t seed;
	bool evaluated;
	double max_congestion, mean_congestion, hop_bytes; /* in blocks */
	/* Seconds of communication, and without the running jobs; 0: not
	 * judged. */
	double seconds, alone_seconds;
	/* By "interference" and "isolation", see struct cpl_candidate. */
	int64_t shared_links;
	double slows_others;
	double learned; /* by the objective learned: what the model told, or 0 */
	int broken; /* with keep_whole, see struct cpl_candidate */
	bool mapped; /* judged with its rank order, by these: */
	double mapped_max, mapped_mean, mapped_hop_bytes;
	double stated_max; /* by stated_routing; 0: not judged so */
	/* Where it was not known whether rank orders arrive: its number in
	 * blocks on its nodes in the scheduler's order, and whether that barred
	 * it. */
	double plain_max;
	bool barred;
};

/* Does the order of ranks reach the tasks: what was assumed, what steps show; */
#define CPL_REACH_YES "yes"
#define CPL_REACH_NO "no"
#define CPL_REACH_UNKNOWN "unknown"
/* and by what it is known. */
#define CPL_REACH_BY_USER "user" /* states another order */
#define CPL_REACH_BY_SITE "site" /* OrderReaches */
#define CPL_REACH_BY_SRUN "srun" /* no batch job */
#define CPL_REACH_BY_STEP "step" /* of a job alike */
#define CPL_REACH_BY_NONE "none"

#define CPL_SEGMENT_BY_USER "user"
#define CPL_SEGMENT_BY_SIGNATURE "signature" /* SegmentFromSignature */

/* To which arm of a trial a job was drawn, whatever became of it. */
#define CPL_ARM_IS_STOCK "stock"
#define CPL_ARM_IS_OURS "commplace"

/* What became of a decision. */
enum cpl_outcome {
	CPL_OUTCOME_STOCK,    /* the scheduler's own nodes */
	CPL_OUTCOME_OBSERVED, /* these too; what ours would be is on record */
	CPL_OUTCOME_PLACED,   /* our nodes */
};

/* "stock", "observed", "placed". */
const char *cpl_outcome_name(enum cpl_outcome outcome);

struct cpl_record {
	int64_t job;
	char *shown_as; /* its id as Slurm shows it where that differs:
	                 * "17_3" of an array, "17+1" of a het job; or
	                 * NULL */
	int64_t time;   /* seconds since 1970 */
	uint32_t uid;
	char *job_name; /* may be NULL, as the next two */
	char *partition;
	char *profile;
	bool own_profile;     /* the user's, not the site's */
	int recorded_ranks;   /* others than the job's: rescaled; 0: as is */
	double rescale_error; /* see struct cpl_rescaled */
	/* How far the profile is from the one before it, where that is more
	 * than DriftDistance; else 0. */
	double drift;
	enum cpl_outcome outcome;
	char *reason;       /* why stock, or "" */
	char *reason_code;  /* the same as cpl_reason_name(), or NULL */
	char *arm;          /* of a trial, CPL_ARM_IS_..., or NULL: none */
	char *policy_asked; /* as asked by user or site */
	char *policy;       /* taken */
	uint64_t seed;      /* of the taken candidate */
	char *objective, *routing, *network_file;
	char *stated_routing; /* what the one chosen and stock were judged by in
	                       * the end, if not by routing; or NULL */
	char *time_model; /* of the objective learned, its version; else NULL */
	int nodes_wanted;
	int ranks_per_node;   /* in the evaluation of candidates */
	char *free_hosts;     /* hostlist the decision could choose from */
	char *required_hosts; /* hostlist, "" when none */
	/* What the nodes had to keep to (placement/bounds.h), and in words what of
	 * it those taken keep; NULL: nothing. */
	char *rules, *units, *kept;
	/* Who had the segments in these rules: CPL_SEGMENT_BY_..., or NULL. */
	char *segment_from;
	int64_t n_background; /* running jobs counted as background */
	int64_t *background;  /* their ids */
	char *measured; /* what was measured besides, in words; NULL: nothing */
	int64_t sample; /* where that is kept (sample.h); 0: it is not */
	/* Placed by what each node sent in the newest run of its name, in place of
	 * a profile: bytes/s; 0: it was not. */
	double volume_profile;
	/* Of a job that runs without a profile (Unknown): bytes/s that each of its
	 * nodes is taken to send to the others from its start on, those last
	 * measured, and when it ended (seconds since 1970); else 0. */
	double volume, measured_volume;
	int64_t ended;
	/* The job's run as its profile has it: what the running jobs send in
	 * that time is its background; 0: no times, their whole runs are. */
	double run_seconds;
	double own_weight, others_weight; /* of "interference", else 0 */
	/*
	 * Units to be kept whole, NULL: none, and the percent that it may cost.
	 * Units broken by the nodes taken and by best_policy, the best by the
	 * objective alone; how much worse those taken are, in parts of that.
	 */
	char *keep_whole;
	int keep_price, broken, best_broken;
	char *best_policy;
	double price;
	/* Seconds that the job is predicted to communicate where it is, there
	 * alone, and on the stock answer (with its rank order where it was a
	 * candidate, else in blocks); 0: not judged. */
	double seconds, alone_seconds, stock_seconds;
	/* Where the ranks of the job's run before were, a hostlist in their
	 * order, and how much worse keeping them there is than the fresh plan, in
	 * parts of that: by policy "repair" that was done. NULL: not judged. */
	char *former_hosts;
	double former_worse;
	bool cut_short;
	double decision_ms;
	int n_hosts;
	char **host;       /* [n_hosts] in the decision's rank order */
	char *stock_hosts; /* hostlist of the stock answer, "" unknown */
	double stock_max_congestion, stock_mean_congestion; /* < 0: unknown */
	double stock_mapped_max; /* the same after mapping */
	int n_candidates;
	struct cpl_record_candidate *candidate;
	/* CPL_REACH_...; NULL: it did not matter, or nothing has shown. */
	char *order_reaches, *order_known_by, *order_arrived;
	char *mapping; /* mapper's name */
	bool mapping_kept_default;
	bool own_order; /* rank_host is how the job's user runs it */
	double map_max_before, map_max_after; /* congestion */
	int ranks;      /* length of rank_host, 0: no layout */
	int *rank_host; /* [ranks] index into host[] */
};

/* A CPL_REACH_ word of a record; NULL or another one: as if it reached them. */
enum cpl_order cpl_order_named(const char *word);
/* The order that candidates were judged with. */
static inline enum cpl_order cpl_record_order(const struct cpl_record *record)
{
	return cpl_order_named(record->order_reaches);
}

/* NULL with err. Free with cpl_record_free. */
json_t *cpl_record_to_json(const struct cpl_record *record,
                           struct cpl_error *err);
struct cpl_record *cpl_record_from_json(const json_t *root,
                                        struct cpl_error *err);
void cpl_record_free(struct cpl_record *record);

/* The file's text, as cpl_json_text has it; free() it. NULL with err (memory).
 * O(its length). */
char *cpl_record_text(const struct cpl_record *record, size_t *length,
                      struct cpl_error *err);

/* Longer files are no records. */
#define RECORD_MAX_BYTES (32 << 20)

/* "STATE_DIR/running/ID.json" or ".../ended/ID.json"; the caller frees it. */
char *cpl_record_path(const char *state_dir, bool ended, int64_t job,
                      struct cpl_error *err);

/* A record's file. NULL with err. */
struct cpl_record *cpl_record_load(const char *path, struct cpl_error *err);

/* Find a job's record, running first. NULL with err ("no record of job 17 in
 * DIR; ..."). */
struct cpl_record *cpl_record_find(const char *state_dir, int64_t job,
                                   bool *ended, struct cpl_error *err);
/* The same of a job by the id that Slurm shows, such as "17_3". O(records). */
struct cpl_record *cpl_record_find_shown(const char *state_dir,
                                         const char *shown_as, bool *ended,
                                         struct cpl_error *err);

/* Call take() with each record of a running or of an ended job, in no order; those
 * that cannot be read are counted. Folders that are not in a state directory yet
 * hold none. -1 with err: it cannot be read. */
int cpl_record_each(const char *state_dir, bool ended,
                    void (*take)(void *arg, const struct cpl_record *record),
                    void *arg, int64_t *skipped, struct cpl_error *err);

/*
 * The job of a record for the traffic model, an observed one on the hosts of
 * the stock answer; cpl_running_job_clear it. Takes the record's hosts. -1 with
 * err: it names none.
 */
int cpl_record_job(struct cpl_record *record, struct cpl_running_job *job,
                   struct cpl_error *err);

/* The profile of a record that has one. */
struct cpl_profile_wanted cpl_record_profile(const struct cpl_record *record);

/* The jobs that counted as background, from their own records, running or
 * ended; cpl_state_free it in either case. -1 with err: one of them has no
 * record any more. */
int cpl_record_background(const struct cpl_record *record,
                          const char *state_dir, struct cpl_state *out,
                          struct cpl_error *err);

/* Set the hosts and rank_host of an observed job to those that it runs on: the
 * stock answer, in even blocks. -1 with err: the record does not say. */
int cpl_record_as_it_runs(struct cpl_record *record, struct cpl_error *err);

/* Running jobs of a state directory; files that cannot be read are skipped and
 * counted. No "running" folder yet: no jobs. */
int cpl_record_state(const char *state_dir, struct cpl_state *out, int *skipped,
                     struct cpl_error *err);

/* Permissions of a file that tells what a state directory's records do: 0644
 * where everybody may list those that run (RecordAccess), else 0600. */
int cpl_record_file_mode(const char *state_dir);
