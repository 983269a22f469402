/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/tasks.h"

/* The unmapped partner with the heaviest edge, ties to the first; -1. */
static int next_partner(const struct cpl_tasks *t, int task,
                        const int *place_of)
{
	const struct cpl_comm *graph = t->graph;
	double most = -1;
	int best = -1;

	for (int64_t e = graph->row[task]; e < graph->row[task + 1]; e++)
		if (place_of[graph->to[e]] < 0 && graph->bytes[e] > most) {
			most = graph->bytes[e];
			best = graph->to[e];
		}
	return best;
}

static void descend(struct cpl_tasks *t, int first, int centre, int *place_of,
                    bool *used, int *stack)
{
	int depth = 0;

	place_of[first] = cpl_tasks_nearest(t, first, centre, used);
	used[place_of[first]] = true;
	stack[depth++] = first;
	for (long step = 1; depth; step++) {
		int task = stack[depth - 1];
		int next = next_partner(t, task, place_of);

		if (step % 64 == 0 && cpl_tasks_expired(t))
			return;
		if (next < 0) {
			depth--;
			continue;
		}
		place_of[next] =
		        cpl_tasks_nearest(t, next, place_of[task], used);
		used[place_of[next]] = true;
		stack[depth++] = next;
	}
}

static int place(struct cpl_tasks *t, int *place_of, struct cpl_error *err)
{
	bool *used = calloc((size_t)t->n, sizeof(*used));
	int *stack = malloc((size_t)t->n * sizeof(*stack));
	int first = cpl_tasks_heaviest(t), rc = -1;
	int centre = cpl_tasks_centre(t);

	if (!used || !stack) {
		cpl_fail_memory(err);
		goto out;
	}
	descend(t, first, centre, place_of, used, stack);
	/* Other components start at their first task. */
	for (int i = 0; i < t->n && !cpl_tasks_expired(t); i++)
		if (place_of[i] < 0)
			descend(t, i, centre, place_of, used, stack);
	rc = 0;
out:
	free(used);
	free(stack);
	return rc;
}

const struct cpl_mapper cpl_mapper_udfs = {
        .name = "udfs",
        .summary = "UDFS: depth first along the heaviest edges",
        .place = place,
};
