/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "graph/arena.h"
#include "graph/partition.h"

static int middle(const struct cpl_halving *how, int low, int high)
{
	if (high - low < 2)
		return 0;
	return how->middle ? how->middle(how->arg, low, high)
	                   : low + (high - low) / 2;
}

/* The ranks of graph, order[] of the whole, are for the targets low .. high. */
static int halve(const struct cpl_halving *how, const struct cpl_comm *graph,
                 int low, int high, int *order, struct cpl_error *err)
{
	int n = graph->ranks, cut = n ? middle(how, low, high) : 0;
	int n_left = how->first ? how->first[cut] - how->first[low] : cut - low;
	int at[2] = {0, n_left}, rc = -1;
	uint64_t seed = how->seed + (how->seed_by_target ? (uint64_t)low : 0);
	struct cpl_arena arena = {0};
	unsigned char *side;
	int *vertex, *moved;

	if (!cut || (how->expired && how->expired(how->expired_arg)))
		return 0;
	side = cpl_arena_take_raw(&arena, n, 1);
	vertex = cpl_arena_take_raw(&arena, n, sizeof(*vertex));
	moved = cpl_arena_take_raw(&arena, n, sizeof(*moved));
	if (arena.failed ||
	    cpl_graph_bisect(graph, n_left, seed, how->runs, how->expired,
	                     how->expired_arg, side, err))
		goto out;
	for (int v = 0; v < n; v++) {
		moved[at[side[v]]] = order[v];
		vertex[at[side[v]]++] = v;
	}
	memcpy(order, moved, (size_t)n * sizeof(*order));
	for (int s = 0; s < 2; s++) {
		int from = s ? n_left : 0, count = s ? n - n_left : n_left;
		struct cpl_comm *half =
		        cpl_comm_subset(graph, vertex + from, count, err);

		rc = half ? halve(how, half, s ? cut : low, s ? high : cut,
		                  order + from, err)
		          : -1;
		cpl_comm_free(half);
		if (rc)
			break;
	}
out:
	return cpl_arena_end(&arena, rc, err);
}

int cpl_graph_halve(const struct cpl_comm *graph, const struct cpl_halving *how,
                    int *order, struct cpl_error *err)
{
	for (int r = 0; r < graph->ranks; r++)
		order[r] = r;
	return halve(how, graph, 0, how->n, order, err);
}
