/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of time: trees that were grown from samples, and how good they are. */
#ifndef CPL_LEARN_MODEL_H
#define CPL_LEARN_MODEL_H

#include "base/json.h"
#include "learn/tree.h"

/* How well a model did on samples that it was not grown from. */
struct cpl_model_score {
	double concordant; /* part of pairs in the right order */
	double r2;         /* 1 - squares of errors / squares around the mean */
	double low, high;  /* 10 % and 90 % of (time - told) / told */
};

struct cpl_model {
	char *method, *target;
	int n_features;
	char **feature;
	double *importance; /* [n_features], sum 1 (0: no split) */
	int samples;        /* that it was grown from */
	struct cpl_model_score score;
	double least, most; /* times of the samples; it tells none beyond */
	double base, rate;  /* value: base + rate * sum of the trees' */
	int n_trees;
	struct cpl_learn_tree *tree;
};

/* commplace-time-model(5). NULL with err "FILE: trees[3]: ...". Free with
 * cpl_model_free. */
struct cpl_model *cpl_model_load(const char *path, struct cpl_error *err);
struct cpl_model *cpl_model_parse(const char *text, size_t length,
                                  const char *name, struct cpl_error *err);
/* Atomic, mode 0644. 0, or -1 with err. */
int cpl_model_write(const struct cpl_model *model, const char *path,
                    struct cpl_error *err);
void cpl_model_free(struct cpl_model *model);

/* [{"name": "hops", "importance": 0.3}, ...] to json_decref; NULL: memory. */
json_t *cpl_model_features(const struct cpl_model *model);

/* Of features in the model's order. O(trees * depth). */
double cpl_model_value(const struct cpl_model *model, const double *x);

#endif
