/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"
#include "graph/arena.h"

static int bind_round_robin(const struct cpl_bind_problem *problem, int *slot,
                            struct cpl_error *err)
{
	const struct cpl_tree *tree = problem->tree;
	int level = tree->n_levels > 1, parts, part = 0;
	struct cpl_arena arena = {0};
	int *next, *end;

	if (tree->n_levels == 0)
		return cpl_binder_packed.bind(problem, slot, err);
	parts = tree->n_objects[level];
	next = cpl_arena_take(&arena, parts, sizeof(*next));
	end = cpl_arena_take(&arena, parts, sizeof(*end));
	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	for (int s = tree->n_slots - 1; s >= 0; s--) {
		int o = cpl_tree_object(tree, level, s);

		next[o] = s;
		if (!end[o])
			end[o] = s + 1;
	}
	for (int r = 0; r < problem->graph->ranks; r++) {
		while (next[part] == end[part])
			part = (part + 1) % parts;
		slot[r] = next[part]++;
		part = (part + 1) % parts;
	}
	return cpl_arena_end(&arena, 0, err);
}

const struct cpl_binder cpl_binder_round_robin = {
        .name = "round-robin",
        .summary = "rank i on the next package in turn",
        .bind = bind_round_robin,
        .orders_cores = true,
};
