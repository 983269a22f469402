/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "mapping/clusters.h"

/* The unmapped partner with the heaviest edge, ties to the first; -1: none. */
static int next_partner(const struct cpl_clusters *t, int cluster,
                        const int *target_of)
{
	const struct cpl_comm *graph = t->graph;
	double most = -1;
	int best = -1;

	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1]; e++)
		if (target_of[graph->to[e]] < 0 && graph->bytes[e] > most) {
			most = graph->bytes[e];
			best = graph->to[e];
		}
	return best;
}

static void descend(struct cpl_clusters *t, int first, int centre,
                    int *target_of, bool *used, int *stack)
{
	int depth = 0;

	cpl_clusters_put(t, first, centre, target_of, used);
	stack[depth++] = first;
	for (long step = 1; depth; step++) {
		int cluster = stack[depth - 1];
		int next = next_partner(t, cluster, target_of);

		if (step % 64 == 0 && cpl_map_expired(t->req))
			return;
		if (next < 0) {
			depth--;
			continue;
		}
		cpl_clusters_put(t, next, target_of[cluster], target_of, used);
		stack[depth++] = next;
	}
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	bool *used = cpl_clusters_take(t, sizeof(*used));
	int *stack = cpl_clusters_take(t, sizeof(*stack));
	int centre = cpl_clusters_centre(t);

	if (t->arena.failed)
		return cpl_fail_memory(err);
	descend(t, cpl_comm_heaviest(t->graph), centre, target_of, used, stack);
	/* Other components start at their first cluster. */
	for (int i = 0; i < t->n && !cpl_map_expired(t->req); i++)
		if (target_of[i] < 0)
			descend(t, i, centre, target_of, used, stack);
	return 0;
}

const struct cpl_mapper cpl_mapper_udfs = {
        .name = "udfs",
        .summary = "UDFS: depth first along the heaviest edges",
        .assign = assign,
};
