/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Largest value, sum and fourth powers of many values of which a few change at
 * a time: a tree of summaries, as tournaments have it. What a node says depends
 * on the values alone, never on how they came about.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"

/* Of values >= 0. */
struct cpl_load_summary {
	double max, sum;
	double powers; /* sum of fourth powers */
};

struct cpl_load_tree;

/* n values, which are all to be put and summed up first. NULL with err (memory). O(n)
 * for pages that are new, else O(1). */
struct cpl_load_tree *cpl_load_tree_new(int64_t n, struct cpl_error *err);
void cpl_load_tree_free(struct cpl_load_tree *tree);

/* Set many values at once, which are kept: put them, then have all summed up.
 * What was set before is kept, too. O(1), O(n). */
void cpl_load_tree_put(struct cpl_load_tree *tree, int64_t i, double value);
void cpl_load_tree_sum(struct cpl_load_tree *tree);

/* O(1). */
void cpl_load_tree_set(struct cpl_load_tree *tree, int64_t i, double value);
double cpl_load_tree_get(const struct cpl_load_tree *tree, int64_t i);

/* The summary of all. O(log n) per value set since the last call. */
const struct cpl_load_summary *cpl_load_tree_all(struct cpl_load_tree *tree);
/* Index of the largest value, the lowest of several; 0 when all are 0, -1 where
 * there are none. As cpl_load_tree_all. */
int64_t cpl_load_tree_largest(struct cpl_load_tree *tree);

/* Keep all values set since the last of these two, or put the old ones back,
 * to the bit. As cpl_load_tree_all. */
void cpl_load_tree_keep(struct cpl_load_tree *tree);
void cpl_load_tree_undo(struct cpl_load_tree *tree);
