/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of time has trees that were grown from samples, and says how good they
 * are. */
#pragma once

#include "base/json.h"
#include "learn/tree.h"

/* This is how well a model did on samples that it was not grown from. */
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
	int samples;        /* it was grown from so many */
	struct cpl_model_score score;
	double least, most; /* times of the samples; it tells none beyond */
	double base, rate;  /* value: base + rate * sum of the trees' */
	int n_trees;
	struct cpl_learn_tree *tree;
};

/* This reads commplace-time-model(5). It returns NULL with err "FILE: trees[3]:
 * ...". Free the model with cpl_model_free. */
struct cpl_model *cpl_model_load(const char *path, struct cpl_error *err);
struct cpl_model *cpl_model_parse(const char *text, size_t length,
                                  const char *name, struct cpl_error *err);
/* This writes atomically, with mode 0644. It returns 0, or -1 with err. */
int cpl_model_write(const struct cpl_model *model, const char *path,
                    struct cpl_error *err);
void cpl_model_free(struct cpl_model *model);

/* This returns [{"name": "hops", "importance": 0.3}, ...] for json_decref, or NULL
 * when memory is out. */
json_t *cpl_model_features(const struct cpl_model *model);

/* The features are in the model's order. It costs O(trees * depth). */
double cpl_model_value(const struct cpl_model *model, const double *x);
