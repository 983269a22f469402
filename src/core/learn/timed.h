/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of time is learned from jobs as they ran, one after the other, and has to
 * prove itself on the last of them. */
#pragma once

#include <stdbool.h>

#include "learn/learn.h"

/* With fewer jobs, the last tenth of them tells nothing. */
#define CPL_LEARN_TIMED_LEAST 100
/* Of more jobs than this in the last tenth, the last count. */
#define CPL_LEARN_TIMED_HELD 4000

/* Placements are compared by these figures without a model: "link_max" by the
 * objective busiest, "model" by the objective time. */
enum cpl_plain { CPL_PLAIN_BUSIEST, CPL_PLAIN_TIME, CPL_PLAINS };

extern const char *const cpl_plain_feature[CPL_PLAINS];

/* Two jobs are a pair if they are of one group and ran for different times. A part
 * of pairs is in the right order where the figure is less for the shorter one; where
 * it is the same for both, the pair counts half. */
struct cpl_learn_test {
	int jobs;      /* of the last tenth */
	int64_t pairs; /* of these */
	double learned, plain[CPL_PLAINS]; /* parts in the right order */
	/* The model's part less that of a plain figure, and its standard error: both
	 * were asked about the same jobs. */
	double lead[CPL_PLAINS], error[CPL_PLAINS];
	bool known[CPL_PLAINS]; /* the samples have that figure */
	/* The lead over each that is known is more than chance would give one model
	 * in twenty. */
	bool better;
};

/*
 * samples: in the order in which the jobs ran, with the options' target as each ran.
 * group[samples->n]: jobs of one number are alike but for where they ran.
 *
 * Times are learned in proportion to what is usual for jobs alike at that time: each
 * is divided by the median of its group around it, and what lies further off than
 * four robust deviations counts as if it were so far. They are told as seconds of a
 * job that takes the geometric mean of all. The first nine tenths are learned from,
 * the last one is the test, and *model is grown from all of them if it is better
 * there, else NULL. Its score is that of the test.
 *
 * This returns 0, or -1 with err: memory, too few jobs, no pairs or no plain figure
 * to compare with, and what cpl_learn refuses. It costs twice as much as the
 * method's grow, and O(held ^ 2).
 */
int cpl_learn_timed(const struct cpl_samples *samples,
                    const struct cpl_learn_options *options, const int *group,
                    struct cpl_learn_test *test, struct cpl_model **model,
                    struct cpl_error *err);
