/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/clusters.h"

/* Targets of one router are joined in a row, and the first targets of routers
 * that are linked to each other. */
static struct cpl_comm *target_graph(struct cpl_clusters *t,
                                     struct cpl_error *err)
{
	const struct cpl_network *net = t->req->net;
	struct cpl_comm_entry *entry = cpl_arena_take(
	        &t->arena, net->n_links + t->n, sizeof(*entry));
	int *first = cpl_arena_take(&t->arena, net->n_routers, sizeof(*first));
	int64_t n = 0;

	if (t->arena.failed)
		return cpl_fail_null_memory(err);
	for (int r = 0; r < net->n_routers; r++)
		first[r] = -1;
	for (int p = 0; p < t->n; p++) {
		int *at = &first[cpl_network_router(net, t->node[p])];

		if (*at >= 0)
			entry[n++] = (struct cpl_comm_entry){*at, p, 4, 1};
		else
			*at = p;
	}
	for (int64_t l = 0; l < net->n_links; l++) {
		int a = first[net->link_from[l]], b = first[net->link_to[l]];

		if (a >= 0 && b >= 0 && a != b)
			entry[n++] = (struct cpl_comm_entry){a, b, 1, 1};
	}
	return cpl_comm_build_symmetric(t->n, entry, n, err);
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	const struct cpl_map_request *req = t->req;
	struct cpl_halving how = {.n = t->n,
	                          .seed = req->seed,
	                          .runs = CPL_GRAPH_BISECT_RUNS,
	                          .expired = req->expired,
	                          .expired_arg = req->expired_arg};
	int *cluster = cpl_clusters_take(t, sizeof(*cluster));
	int *target = cpl_clusters_take(t, sizeof(*target));
	struct cpl_comm *targets = target_graph(t, err);
	int rc = -1;

	if (targets && !cpl_graph_halve(t->graph, &how, cluster, err) &&
	    !cpl_graph_halve(targets, &how, target, err))
		rc = cpl_clusters_pair(t, cluster, target, target_of, err);
	cpl_comm_free(targets);
	return rc;
}

const struct cpl_mapper cpl_mapper_bipartition = {
        .name = "bipartition",
        .summary = "bisects ranks and hosts alike, again and again",
        .assign = assign,
};
