/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees that ranks are put onto, such as a node's hardware: slots in tree order
 * and the levels of objects above them, the root first. Objects of a level are
 * intervals of slots, numbered from 0 in slot order.
 */
#pragma once

#include "graph/comm.h"

struct cpl_tree {
	int n_slots;
	int n_levels;
	int *object;    /* [n_levels * n_slots] object of a slot at a level */
	int *n_objects; /* [n_levels] */
};

/* All objects 0. 0, or -1 with err (memory). O(slots * levels). */
int cpl_tree_init(struct cpl_tree *tree, int n_slots, int n_levels,
                  struct cpl_error *err);
void cpl_tree_free(struct cpl_tree *tree);

static inline int cpl_tree_object(const struct cpl_tree *tree, int level,
                                  int slot)
{
	return tree->object[(size_t)level * tree->n_slots + slot];
}

/* 2 * levels from the slots up to the lowest object that holds both; 0 for
 * a == b. O(levels). */
int cpl_tree_distance(const struct cpl_tree *tree, int a, int b);

/* Sum over pairs of graph (symmetric) of bytes * distance. O(entries). */
double cpl_tree_cost(const struct cpl_tree *tree, const struct cpl_comm *graph,
                     const int *slot);
