/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Models of time are learned from samples (Jain 2016, chapter 4; his code used
 * scikit-learn; the two methods are small, so they are here). The same samples,
 * options and seed always give the same model. */
/* Tests: * in test_learn. */
#pragma once

#include "base/registry.h"
#include "learn/model.h"
#include "learn/samples.h"

/* With fewer samples nothing can be held out. */
#define CPL_LEARN_LEAST 12
/* A score is the mean over so many divisions into two thirds and a third. */
#define CPL_LEARN_DIVISIONS 10

/* A method grows trees from this: rows x[row[i]] of n_features each. */
struct cpl_learn_task {
	int n, n_features;
	const double *x, *y;
	const int *row; /* [n] */
	int trees;
	uint64_t seed;
};

/* Each learner has one file, and one line in learn.mk. */
struct cpl_learner {
	CPL_ENTRY;
	int trees; /* by default */
	/* This fills base, rate, n_trees, tree and (+=) importance. It returns 0,
	 * or -1 with err when memory is out. */
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

/* This scores the method on thirds held out of the samples, as drawn, then grows a
 * model from all. It returns NULL with err: memory, too few samples, times that are
 * not above 0, figures too large to be squared. Free the model with cpl_model_free.
 * It costs CPL_LEARN_DIVISIONS + 1 times as much as the method's grow. */
struct cpl_model *cpl_learn(const struct cpl_samples *samples,
                            const struct cpl_learn_options *options,
                            struct cpl_error *err);

/* This grows a model from the first n rows alone, at least one, and gives it no
 * score. It fails as cpl_learn does but for too few samples. It costs as much as the
 * method's grow. */
struct cpl_model *cpl_learn_first(const struct cpl_samples *samples, int n,
                                  const struct cpl_learn_options *options,
                                  struct cpl_error *err);
