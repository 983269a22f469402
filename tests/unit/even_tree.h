/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "graph/tree.h"

/* A balanced tree; arity[0] is the root's. */
static inline struct cpl_tree even_tree(int n_levels, const int *arity)
{
	struct cpl_tree tree;
	int below = 1;

	for (int l = 0; l < n_levels; l++)
		below *= arity[l];
	if (cpl_tree_init(&tree, below, n_levels, NULL)) {
		fprintf(stderr, "even_tree: no memory\n");
		abort();
	}
	for (int l = 0; l < n_levels; l++) {
		int *object = tree.object + (size_t)l * tree.n_slots;

		for (int s = 0; s < tree.n_slots; s++)
			object[s] = s / below;
		tree.n_objects[l] = tree.n_slots / below;
		below /= arity[l];
	}
	return tree;
}
