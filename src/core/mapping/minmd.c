/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/sort.h"
#include "mapping/clusters.h"

struct target_edge {
	int u, v;
	double bytes;
};

static CPL_SORT_BY(heavier, struct target_edge, CPL_DOWN(bytes), CPL_UP(u),
                   CPL_UP(v))

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	const struct cpl_comm *graph = t->graph;
	struct target_edge *edge =
	        cpl_arena_take(&t->arena, graph->n_entries, sizeof(*edge));
	bool *used = cpl_clusters_take(t, sizeof(*used));
	int centre;
	size_t n = 0;

	if (t->arena.failed)
		return cpl_fail_memory(err);
	for (int u = 0; u < t->n; u++)
		for (int64_t e = graph->row[u]; e < graph->row[u + 1]; e++)
			if (graph->to[e] > u)
				edge[n++] = (struct target_edge){
				        u, graph->to[e], graph->bytes[e]};
	qsort(edge, n, sizeof(*edge), heavier);
	centre = cpl_clusters_centre(t);
	for (size_t i = 0; i < n; i++) {
		int u = edge[i].u, v = edge[i].v;

		if (i % 64 == 63 && cpl_map_expired(t->req))
			break;
		if (target_of[u] < 0 && target_of[v] < 0)
			cpl_clusters_put(t, u, centre, target_of, used);
		if (target_of[u] < 0)
			cpl_clusters_put(t, u, target_of[v], target_of, used);
		else if (target_of[v] < 0)
			cpl_clusters_put(t, v, target_of[u], target_of, used);
	}
	return 0;
}

const struct cpl_mapper cpl_mapper_minmd = {
        .name = "minmd",
        .summary = "MinMD: heaviest pairs first, each near its partner",
        .assign = assign,
};
