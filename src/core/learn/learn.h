/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Models of time from samples (Jain 2016, chapter 4; his code used scikit-learn;
 * the two methods are small, so they are here). Always the same model for the
 * same samples, options and seed.
 */
/* Tests: * in test_learn. */
#ifndef CPL_LEARN_LEARN_H
#define CPL_LEARN_LEARN_H

#include "base/registry.h"
#include "learn/model.h"
#include "learn/samples.h"

/* Samples below which nothing can be held out. */
#define CPL_LEARN_LEAST 12
/* Divisions into two thirds and a third, from which a score is the mean. */
#define CPL_LEARN_DIVISIONS 10

/* What a method grows trees from: rows x[row[i]] of n_features each. */
struct cpl_learn_task {
	int n, n_features;
	const double *x, *y;
	const int *row; /* [n] */
	int trees;
	uint64_t seed;
};

/* One file and one line in learn.mk each. */
struct cpl_learner {
	CPL_ENTRY;
	int trees; /* by default */
	/* Fills base, rate, n_trees, tree and (+=) importance. 0, or -1 with
	 * err (memory). */
	int (*grow)(const struct cpl_learn_task *task, struct cpl_model *model,
	            struct cpl_error *err);
};

extern const struct cpl_registry cpl_learners;

struct cpl_learn_options {
	const struct cpl_learner *learner;
	const char *target; /* a column */
	const int *feature; /* [n_features] columns */
	int n_features;
	int trees; /* 0: the learner's */
	uint64_t seed;
};

/*
 * Score the method on thirds held out of the samples, as drawn, then grow a
 * model from all. NULL with err: memory, too few samples, times that are not
 * above 0, figures too large to be squared. Free with cpl_model_free. Costs
 * CPL_LEARN_DIVISIONS + 1 times what the method's grow does.
 */
struct cpl_model *cpl_learn(const struct cpl_samples *samples,
                            const struct cpl_learn_options *options,
                            struct cpl_error *err);

#endif
