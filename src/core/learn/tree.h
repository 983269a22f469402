/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A regression tree leads from the features of a sample to a leaf, which has a
 * value. */
#pragma once

#include <stdint.h>

#include "base/error.h"

struct cpl_learn_tree_node {
	int feature;  /* -1: a leaf */
	/* the node of samples above value; others go to the next node */
	int above;
	double value; /* of a leaf, or where it splits */
};

struct cpl_learn_tree {
	int n;
	struct cpl_learn_tree_node *node; /* preorder */
};

/* A tree is grown from this: rows x[row[i]] of n_features each. */
struct cpl_learn_tree_task {
	int n, n_features;
	const double *x; /* [rows][n_features] */
	const double *y; /* [rows] */
	int *row;        /* [n], in any order; it is changed */
	int depth;       /* at most so many splits; INT_MAX: any */
	int least;       /* samples of a node that is split, >= 2 */
	/* One split is drawn for each feature, and the best of them is taken
	 * (Geurts, Ernst, Wehenkel, Machine Learning 63, 2006); otherwise the best
	 * there is. */
	bool random;
	uint64_t seed;
	/* This returns a leaf's value from its rows; NULL means the mean of y. */
	double (*leaf)(void *arg, const int *row, int n);
	void *arg;
	double *gain; /* [n_features] += what splits took off the squares */
};

/* This returns 0, or -1 with err when memory is out; free the tree in either case.
 * It costs O(features * n log n) for each level. */
int cpl_learn_tree_grow(const struct cpl_learn_tree_task *task,
                        struct cpl_learn_tree *tree, struct cpl_error *err);
void cpl_learn_tree_free(struct cpl_learn_tree *tree);

/* It costs O(depth). */
double cpl_learn_tree_value(const struct cpl_learn_tree *tree, const double *x);
