/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/heap.h"
#include "mapping/clusters.h"

/* Unmapped partners enter the heap by their heaviest edge to mapped ones. */
static void push_partners(const struct cpl_clusters *t, int cluster,
                          const int *target_of, double *edge,
                          struct cpl_heap *heap)
{
	const struct cpl_comm *graph = t->graph;

	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1];
	     e++) {
		int to = graph->to[e];

		if (target_of[to] >= 0)
			continue;
		if (!cpl_heap_has(heap, to)) {
			edge[to] = graph->bytes[e];
			cpl_heap_push(heap, to);
		} else if (graph->bytes[e] > edge[to]) {
			edge[to] = graph->bytes[e];
			cpl_heap_raise(heap, to);
		}
	}
}

static int heaviest_unmapped(const struct cpl_clusters *t, const int *target_of,
                             const double *weight)
{
	int best = -1;

	for (int i = 0; i < t->n; i++)
		if (target_of[i] < 0 && (best < 0 || weight[i] > weight[best]))
			best = i;
	return best;
}

static void map_greedily(struct cpl_clusters *t, int *target_of,
                         struct cpl_heap *heap, double *edge, bool *used,
                         const double *weight)
{
	int near = 0, cluster;

	while ((cluster = heaviest_unmapped(t, target_of, weight)) >= 0) {
		for (;;) {
			near = cpl_clusters_put(t, cluster, near, target_of,
			                        used);
			push_partners(t, cluster, target_of, edge, heap);
			if (!heap->n)
				break;
			cluster = heap->item[0];
			cpl_heap_remove(heap, cluster);
			if (cpl_map_expired(t->req))
				return;
		}
	}
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	bool *used = cpl_clusters_take(t, sizeof(*used));
	double *weight = cpl_clusters_take(t, sizeof(*weight));
	double *edge = cpl_clusters_take(t, sizeof(*edge));
	struct cpl_heap heap;

	if (t->arena.failed)
		return cpl_fail_memory(err);
	if (cpl_heap_init(&heap, t->n, edge, err))
		return -1;
	for (int i = 0; i < t->n; i++)
		for (int64_t e = t->comm->row[i]; e < t->comm->row[i + 1]; e++)
			weight[i] += t->comm->bytes[e];
	map_greedily(t, target_of, &heap, edge, used, weight);
	cpl_heap_free(&heap);
	return 0;
}

const struct cpl_mapper cpl_mapper_greedy = {
        .name = "greedy",
        .summary = "Hoefler-Snir: heaviest edge next, near the last host",
        .assign = assign,
};
