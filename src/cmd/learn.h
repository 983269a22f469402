/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of `commplace learn` share. */
#pragma once

#include "benefit.h"
#include "cmd.h"
#include "learn/features.h"
#include "learn/timed.h"

#define LEARN_KEEP 10

enum learn_from { LEARN_FROM_TABLE, LEARN_FROM_RECORDS };

struct learn_options {
	int from; /* enum learn_from */
	const char *output, *method, *target, *features;
	const char *table, *sacct, *write_table; /* of records */
	const char *profile_dir, *network, *state_dir, *config;
	const char *name, *model_dir;
	struct sacct_keys keys;
	int64_t trees, seed, keep, version; /* version 0: not given */
	bool versions, json;
};

/* learn_options.c: an exit code. */
int learn_parse(const struct cmd *self, int argc, char **argv,
                struct learn_options *o);
/* Columns by --features, or all but the target. How many, -1: with err. */
int learn_choose(const struct cpl_samples *s, const struct learn_options *o,
                 int *column, struct cpl_error *err);
/* The learner by --method, with --target, --trees and --seed. -1 with err. */
int learn_find_method(const struct learn_options *o,
                      struct cpl_learn_options *to, struct cpl_error *err);
/* A table of a model's features; an exit code. */
int learn_print_features(const struct cpl_model *m);

/* learn_jobs.c: jobs that ran, with what is known of where they ran. */
struct learn_jobs {
	struct benefit_sources sources;
	int64_t unplaced; /* jobs of which it is not known any more, */
	struct cpl_error why; /* for one of them */
	int64_t without;  /* without what is to be told */
	int64_t alone;    /* of which there is one of a kind */
	/* In the order in which they ran. Columns are all features that are known
	 * of every job, then --target, which is the seconds for a unit of merit. */
	struct cpl_samples *samples;
	int *group;              /* [n] of jobs alike */
	struct cpl_trial_jobs list;
};

/* 0, or -1 with err; learn_jobs_free it in either case. With --write-table, the jobs
 * are written there, too. */
int learn_jobs_load(struct learn_jobs *jobs, const struct learn_options *o,
                    struct cpl_error *err);
void learn_jobs_free(struct learn_jobs *jobs);

/* learn_placed.c: the features of jobs where they ran, by their records. */
struct learn_placed;
/* NULL with err. */
struct learn_placed *learn_placed_open(const struct learn_options *o,
                                       struct cpl_error *err);
void learn_placed_close(struct learn_placed *placed);
/* The state directory that it reads. */
const char *learn_placed_state(const struct learn_placed *placed);
/* -1 with err: it cannot be told any more. */
int learn_placed_features(struct learn_placed *placed, int64_t job,
                          double value[CPL_FEATURES], struct cpl_error *err);

/* learn_records.c: --from records, --versions and --version; exit codes. */
int learn_from_records(const struct cmd *self, const struct learn_options *o);
int learn_store(const struct cmd *self, const struct learn_options *o);
