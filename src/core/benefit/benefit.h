/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What placement does for the jobs of a trial: the gain in elapsed time and other
 * measures, of each group (a profile at a number of ranks), each profile and
 * partition, and over all.
 *
 * A gain is 1 minus the ratio of the arms' geometric means (of a figure of merit:
 * that ratio minus 1) inside strata (strata.h). Over several strata it is their
 * hierarchical mean: each weighs by 1 / (its variance + the variance between
 * strata), the latter after DerSimonian and Laird (Controlled Clinical Trials 7,
 * 1986), so that many equal strata count by what they tell and different ones
 * alike. What is told is about the strata seen, not about others to come: the
 * variance between them gives weights, and is no part of the interval. That weights
 * are estimated, too, is allowed for after Meier (Biometrics 9, 1953, "Variance of a
 * weighted mean"). Intervals are those of sequence.h: valid at every look.
 */
/* Tests: benefit_beside jobs notes sequence strata in test_benefit. */
#pragma once

#include "benefit/strata.h"

/* Probability that an interval ever misses. */
#define CPL_BENEFIT_ALPHA 0.05

enum cpl_gain_verdict {
	CPL_GAIN_UNKNOWN, /* 0 is in the interval, or there is none */
	CPL_GAIN_BETTER,
	CPL_GAIN_WORSE
};

/* "unknown", "better", "worse". */
const char *cpl_gain_verdict_name(enum cpl_gain_verdict verdict);

struct cpl_gain {
	bool known;       /* gain is: both arms have jobs of a stratum */
	bool bounded;     /* low and high are */
	double gain, low, high; /* parts of 1 */
	enum cpl_gain_verdict verdict;
	double effect, precision; /* of logarithms; precision 0: not known */
	double between; /* standard deviation between strata, of logarithms */
	/* Jobs until a gain of the stated effect is expected to show, at the
	 * arms' shares of now; 0: it would have; < 0: not known. */
	double more;
};

/* Some of the strata together. */
struct cpl_benefit_pool {
	const char *profile, *partition; /* NULL: several */
	int ranks;                       /* 0: several */
	int64_t jobs[CPL_ARMS], clipped;
	double spread[CPL_ARMS]; /* deviation of log seconds in strata; 0: none */
	bool has_predicted;
	double predicted;        /* mean */
	double node_seconds;
	struct cpl_gain measure[CPL_MEASURES];
	/* Of profiles: worse beyond doubt, that is in an interval which holds for
	 * all profiles together at CPL_BENEFIT_ALPHA. */
	bool stop;
};

struct cpl_benefit {
	int64_t n_groups, n_profiles, n_partitions;
	struct cpl_benefit_pool *group, *profile, *partition, overall;
	bool has_partitions;
	/* What it does for a job's elapsed time that all of the trial's jobs beside
	 * it are placed, and not stock. */
	struct cpl_gain beside;
	/* Halves by time: is their difference beyond what chance does? */
	struct cpl_gain half[2];
	bool drifts;
	/* Measured over predicted gain of groups that have both: 1 is as
	 * predicted; its standard error; how many groups. */
	double slope, slope_error;
	int64_t n_calibrated;
};

/*
 * The jobs are sorted anew. effect: a gain, above 0 and below 1, for `more`. -1
 * with err: memory. cpl_benefit_free in either case; it points into the jobs. O(jobs
 * log jobs).
 */
int cpl_benefit_make(struct cpl_benefit *out, struct cpl_trial_jobs *jobs,
                     double effect, struct cpl_error *err);
void cpl_benefit_free(struct cpl_benefit *benefit);

/*
 * benefit_beside.c: the gain of jobs by their neighbours, of n jobs in the order of
 * strata: a line through log seconds against `beside` in each arm of a stratum, of
 * one slope for all. O(n).
 */
struct cpl_gain cpl_benefit_beside(const struct cpl_trial_job *job, int64_t n);

/* What a trial costs before it shows a gain of `effect`. */
struct cpl_trial_plan {
	double jobs; /* in both arms */
	/* Node hours of all of them, and those that the stock arm takes longer
	 * than it would placed, if the gain is that. */
	double node_hours, cost;
};

/*
 * share: of the jobs that stay stock, above 0 and below 1; spread: standard
 * deviation of log seconds among jobs alike; node_hours: of a mean stock job. O(1).
 */
struct cpl_trial_plan cpl_benefit_plan(double effect, double share,
                                       double spread, double node_hours);
