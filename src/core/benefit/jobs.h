/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The jobs of a trial that have ended, each of one of two arms. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum cpl_arm {
	CPL_ARM_STOCK,  /* drawn to have the scheduler's own nodes */
	CPL_ARM_PLACED, /* drawn to be placed, whatever came of it */
	CPL_ARMS
};

/* "stock", "commplace". */
const char *cpl_arm_name(enum cpl_arm arm);
/* -1: none is called so. */
int cpl_arm_find(const char *name);

/* What is compared between the arms. */
enum cpl_measure {
	CPL_MEASURE_SECONDS, /* elapsed */
	CPL_MEASURE_ENERGY,
	CPL_MEASURE_MERIT, /* what the job itself reports: more is better */
	CPL_MEASURES
};

/* Larger values of any measure, elapsed seconds, joules or others, are none. */
#define CPL_MEASURE_MOST 1e30

/* "seconds", "energy", "merit". */
const char *cpl_measure_name(enum cpl_measure measure);

struct cpl_trial_job {
	const char *profile, *partition; /* of the list; partition "": not known */
	int ranks, nodes;
	enum cpl_arm arm;
	double value[CPL_MEASURES]; /* 0: not known */
	double predicted; /* gain in elapsed time, part of 1; NAN: none */
	double beside; /* part of the trial's jobs that ran beside it, as it began,
	                * that are drawn to be placed; NAN: none is known */
	int64_t time;     /* any number that grows with time */
	int64_t id;       /* whatever the list's owner knows it by */
};

/* {0} is an empty list. */
struct cpl_trial_jobs {
	bool others; /* of tables, columns of other names are passed over */
	int64_t n;
	struct cpl_trial_job *job;
	char **text; /* [n_texts], what jobs point to */
	int64_t n_texts;
};

/* Add a job with copies of its texts. -1 with err: memory. Amortised O(1). */
int cpl_trial_jobs_add(struct cpl_trial_jobs *jobs,
                       const struct cpl_trial_job *job, struct cpl_error *err);

/*
 * A CSV file in UTF-8 without quotes, its columns in any order, told by its first
 * line: profile, ranks, nodes, arm, seconds; and perhaps energy, merit,
 * partition, predicted (a gain, 0.05 is 5 %), beside (0 to 1) and time (seconds since 1970, else
 * the order of lines), in which a field may be empty. A job's id is the number of
 * its line among those that are not empty, from 0 on. -1 with err "FILE:LINE: ...".
 * cpl_trial_jobs_free in either case. O(bytes).
 */
int cpl_trial_jobs_load(struct cpl_trial_jobs *jobs, const char *path,
                        struct cpl_error *err);
int cpl_trial_jobs_parse(struct cpl_trial_jobs *jobs, const char *text,
                         size_t length, const char *name,
                         struct cpl_error *err);
void cpl_trial_jobs_free(struct cpl_trial_jobs *jobs);
