/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

#include "mapping/mapping_internal.h"

/*
 * Where an object of the highest level that separates the slots from .. to - 1
 * ends, nearest to the middle; 0: none does.
 */
static int find_cut(const struct cpl_slot_tree *tree, int from, int to)
{
	int middle = from + (to - from) / 2;

	for (int l = 0; l < tree->n_levels; l++) {
		if (cpl_slot_object(tree, l, from) ==
		    cpl_slot_object(tree, l, to - 1))
			continue;
		for (int d = 0;; d++) {
			for (int s = middle - d; s <= middle + d;
			     s += d ? 2 * d : 1)
				if (s > from && s < to &&
				    cpl_slot_object(tree, l, s) !=
				            cpl_slot_object(tree, l, s - 1))
					return s;
		}
	}
	return 0;
}

/* rank[0 .. to - from) of the whole, between which graph is. */
static int split(const struct cpl_slot_tree *tree, const struct cpl_comm *graph,
                 int *rank, int from, int to, uint64_t seed, int runs,
                 int *slot, struct cpl_error *err)
{
	int cut = find_cut(tree, from, to), n = to - from, n_left = cut - from;
	int at[2] = {0, n_left}, rc = -1;
	unsigned char *side = NULL;
	int *own = NULL, *moved = NULL;

	if (!cut) {
		for (int i = 0; i < n; i++)
			slot[rank[i]] = from + i;
		return 0;
	}
	side = malloc((size_t)n);
	own = malloc((size_t)n * sizeof(*own));
	moved = malloc((size_t)n * sizeof(*moved));
	if (!side || !own || !moved) {
		cpl_fail_memory(err);
		goto done;
	}
	if (cpl_map_bisect_runs(graph, n_left, seed, runs, NULL, NULL, side,
	                        err) < 0)
		goto done;
	for (int i = 0; i < n; i++) {
		own[at[side[i]]] = i;
		moved[at[side[i]]++] = rank[i];
	}
	memcpy(rank, moved, (size_t)n * sizeof(*rank));
	for (int h = 0; h < 2; h++) {
		int first = h ? n_left : 0, count = h ? n - n_left : n_left;
		struct cpl_comm *half =
		        cpl_comm_subset(graph, own + first, count, err);

		rc = half ? split(tree, half, rank + first, from + first,
		                  from + first + count, seed, runs, slot, err)
		          : -1;
		cpl_comm_free(half);
		if (rc < 0)
			goto done;
	}
done:
	free(moved);
	free(own);
	free(side);
	return rc;
}

int cpl_bind_bisect(const struct cpl_slot_tree *tree,
                    const struct cpl_comm *graph, uint64_t seed, int runs,
                    int *slot, struct cpl_error *err)
{
	int *rank = malloc(((size_t)graph->ranks + 1) * sizeof(*rank));
	int rc = 0;

	if (!rank)
		return cpl_fail_memory(err);
	for (int r = 0; r < graph->ranks; r++)
		rank[r] = r;
	if (graph->ranks > 0)
		rc = split(tree, graph, rank, 0, graph->ranks, seed, runs, slot,
		           err);
	free(rank);
	return rc;
}
