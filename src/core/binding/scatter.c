/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

/* Orders the slots from..to below one object of a level: in turn from each of
 * its children, which are ordered so themselves. */
static void spread(const struct cpl_tree *tree, int level, int from, int to,
                   int *order, int *scratch)
{
	const int *child = tree->object + (size_t)(level + 1) * tree->n_slots;
	int n = 0;

	if (level + 1 >= tree->n_levels) {
		for (int s = from; s < to; s++)
			order[s] = s;
		return;
	}
	for (int s = from, end; s < to; s = end) {
		for (end = s + 1; end < to && child[end] == child[s];)
			end++;
		spread(tree, level + 1, s, end, order, scratch);
	}
	for (int turn = 0; n < to - from; turn++)
		for (int s = from, end; s < to; s = end) {
			for (end = s + 1; end < to && child[end] == child[s];)
				end++;
			if (s + turn < end)
				scratch[n++] = order[s + turn];
		}
	memcpy(order + from, scratch, (size_t)n * sizeof(*order));
}

static int bind_scatter(const struct cpl_bind_problem *problem, int *slot,
                        struct cpl_error *err)
{
	const struct cpl_tree *tree = problem->tree;
	int *order = calloc((size_t)tree->n_slots * 2, sizeof(*order));

	if (!order)
		return cpl_fail_memory(err);
	spread(tree, 0, 0, tree->n_slots, order, order + tree->n_slots);
	for (int r = 0; r < problem->graph->ranks; r++)
		slot[r] = order[r];
	free(order);
	return 0;
}

const struct cpl_binder cpl_binder_scatter = {
        .name = "scatter",
        .summary = "neighbouring ranks as far apart as can be",
        .bind = bind_scatter,
        .orders_cores = true,
};
