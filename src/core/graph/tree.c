/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/tree.h"

#include <stdlib.h>

int cpl_tree_init(struct cpl_tree *tree, int n_slots, int n_levels,
                  struct cpl_error *err)
{
	size_t levels = (size_t)n_levels + 1;

	*tree = (struct cpl_tree){.n_slots = n_slots, .n_levels = n_levels};
	tree->object = calloc(levels * (size_t)n_slots, sizeof(*tree->object));
	tree->n_objects = calloc(levels, sizeof(*tree->n_objects));
	if (tree->object && tree->n_objects)
		return 0;
	cpl_tree_free(tree);
	return cpl_fail_memory(err);
}

void cpl_tree_free(struct cpl_tree *tree)
{
	cpl_free_all(tree->object, tree->n_objects);
	*tree = (struct cpl_tree){0};
}

int cpl_tree_distance(const struct cpl_tree *tree, int a, int b)
{
	const int *object = tree->object;
	int apart = 0;

	/* Without a branch that nobody can foresee. */
	for (int l = 1; l < tree->n_levels; l++) {
		object += tree->n_slots;
		apart += object[a] != object[b];
	}
	return a == b ? 0 : 2 * (1 + apart);
}

double cpl_tree_cost(const struct cpl_tree *tree, const struct cpl_comm *graph,
                     const int *slot)
{
	double cost = 0;

	for (int i = 0; i < graph->ranks; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			if (graph->to[e] > i)
				cost += graph->bytes[e] *
				        cpl_tree_distance(tree, slot[i],
				                          slot[graph->to[e]]);
	return cost;
}
