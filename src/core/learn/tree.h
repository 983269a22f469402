/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regression trees: by the features of a sample to a leaf, which has a value. */
#ifndef CPL_LEARN_TREE_H
#define CPL_LEARN_TREE_H

#include <stdint.h>

#include "base/error.h"

struct cpl_learn_tree_node {
	int feature;  /* -1: a leaf */
	int above;    /* node of samples with more than value; the others go to
	               * the next node */
	double value; /* a leaf's, or where it splits */
};

struct cpl_learn_tree {
	int n;
	struct cpl_learn_tree_node *node; /* preorder */
};

/* What a tree is grown from: rows x[row[i]] of n_features each. */
struct cpl_learn_tree_task {
	int n, n_features;
	const double *x; /* [rows][n_features] */
	const double *y; /* [rows] */
	int *row;        /* [n], in any order; it is changed */
	int depth;       /* at most, of splits; INT_MAX: any */
	int least;       /* samples of a node that is split, >= 2 */
	/*
	 * One split drawn for each feature, the best of them taken (Geurts,
	 * Ernst, Wehenkel, Machine Learning 63, 2006); else the best there is.
	 */
	bool random;
	uint64_t seed;
	/* A leaf's value of its rows, NULL: the mean of y. */
	double (*leaf)(void *arg, const int *row, int n);
	void *arg;
	double *gain; /* [n_features] += what splits took off the squares */
};

/* 0, or -1 with err (memory); to be freed in either case. O(features * n log n)
 * a level. */
int cpl_learn_tree_grow(const struct cpl_learn_tree_task *task,
                        struct cpl_learn_tree *tree, struct cpl_error *err);
void cpl_learn_tree_free(struct cpl_learn_tree *tree);

/* O(depth). */
double cpl_learn_tree_value(const struct cpl_learn_tree *tree, const double *x);

#endif
