/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exhaustive search, to compare binders with. */
#pragma once

#include "graph/tree.h"

/*
 * Least cost of all ways to give the ranks from `placed` on to slots that are
 * not in `used`, a bit each. O(slots! / (slots - ranks)!).
 */
static inline double least_cost(const struct cpl_tree *tree,
                                const struct cpl_comm *graph, int *slot,
                                int placed, unsigned *used)
{
	double least = -1;

	if (placed == graph->ranks)
		return cpl_tree_cost(tree, graph, slot);
	for (int s = 0; s < tree->n_slots; s++) {
		double cost;

		if (*used >> s & 1)
			continue;
		*used |= 1u << s;
		slot[placed] = s;
		cost = least_cost(tree, graph, slot, placed + 1, used);
		*used &= ~(1u << s);
		if (least < 0 || cost < least)
			least = cost;
	}
	return least;
}
