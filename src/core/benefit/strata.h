/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that can be compared: of one profile, number of ranks, partition and number
 * of nodes. What differs between strata does not reach the comparison of arms.
 */
#pragma once

#include <stdbool.h>

#include "benefit/jobs.h"

/*
 * Logarithms of one measure. Elapsed times of public logs have heavy tails on both
 * sides (a job that hangs, one that ends at once): where both arms have
 * CPL_CLIP_JOBS, a value further than CPL_CLIP_DEVIATIONS robust deviations (1.4826
 * times the median distance from the median of its arm, over both arms) from the
 * median of its arm counts as if it were so far from it.
 */
#define CPL_CLIP_JOBS 20
#define CPL_CLIP_DEVIATIONS 4.0

struct cpl_comparison {
	int64_t n[CPL_ARMS];         /* jobs that have the measure */
	double mean[CPL_ARMS];       /* of its logarithms */
	double deviation[CPL_ARMS];  /* of these; 0: not known */
	int64_t clipped;
	/* Of the mean of placed jobs minus that of stock ones; df 0: the spread is
	 * not known yet. */
	double effect, variance, df;
};

struct cpl_stratum {
	const char *profile, *partition;
	int ranks, nodes;
	int64_t jobs[CPL_ARMS];
	double predicted; /* sum over the n_predicted jobs that have it */
	int64_t n_predicted;
	double node_seconds; /* sum over the jobs, of their elapsed time */
	struct cpl_comparison measure[CPL_MEASURES];
};

struct cpl_strata {
	int64_t n;
	struct cpl_stratum *stratum; /* by profile, ranks, partition, nodes */
};

/* Are they of one stratum? */
bool cpl_trial_jobs_alike(const struct cpl_trial_job *a,
                          const struct cpl_trial_job *b);

/* Of n jobs, which are put in that order, those of one stratum by time. Free
 * out->stratum. -1 with err: memory. O(n log n), or O(n) where they are in order. */
int cpl_strata_make(struct cpl_strata *out, struct cpl_trial_job *job,
                    int64_t n, struct cpl_error *err);
