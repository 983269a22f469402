/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>

#include "graph/partition.h"

/* The end nearest to the middle of an object of the highest level that
 * separates the slots from .. to - 1; 0: none does. */
static int find_cut(const void *arg, int from, int to)
{
	const struct cpl_tree *tree = arg;
	int middle = from + (to - from) / 2;

	for (int l = 0; l < tree->n_levels; l++) {
		if (cpl_tree_object(tree, l, from) ==
		    cpl_tree_object(tree, l, to - 1))
			continue;
		for (int d = 0;; d++) {
			for (int s = middle - d; s <= middle + d;
			     s += d ? 2 * d : 1)
				if (s > from && s < to &&
				    cpl_tree_object(tree, l, s) !=
				            cpl_tree_object(tree, l, s - 1))
					return s;
		}
	}
	return 0;
}

int cpl_bind_bisect(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    uint64_t seed, int runs, int *slot, struct cpl_error *err)
{
	struct cpl_halving how = {.n = graph->ranks,
	                          .middle = find_cut,
	                          .arg = tree,
	                          .seed = seed,
	                          .runs = runs};
	int *rank = malloc(((size_t)graph->ranks + 1) * sizeof(*rank));
	int rc;

	if (!rank)
		return cpl_fail_memory(err);
	rc = cpl_graph_halve(graph, &how, rank, err);
	for (int s = 0; !rc && s < graph->ranks; s++)
		slot[rank[s]] = s;
	free(rank);
	return rc;
}
