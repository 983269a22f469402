/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/clusters.h"

/* Targets of one router are joined in a row, the first ones of routers that are
 * linked to each other. */
static struct cpl_comm *assign_graph(const struct cpl_clusters *t,
                                     struct cpl_error *err)
{
	const struct cpl_network *net = t->req->net;
	size_t max = (size_t)net->n_links + (size_t)t->n + 1;
	struct cpl_comm_entry *entry = malloc(max * sizeof(*entry));
	int *first = malloc((size_t)net->n_routers * sizeof(*first));
	struct cpl_comm *directed = NULL, *graph = NULL;
	int64_t n = 0;

	if (!entry || !first) {
		cpl_fail_memory(err);
		goto out;
	}
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
	directed = cpl_comm_build(t->n, entry, n, err);
	if (directed)
		graph = cpl_comm_symmetric(directed, err);
out:
	cpl_comm_free(directed);
	free(entry);
	free(first);
	return graph;
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	struct cpl_comm *targets = assign_graph(t, err);
	const struct cpl_map_request *req = t->req;
	struct cpl_halving how = {.n = t->n,
	                          .seed = req->seed,
	                          .runs = CPL_GRAPH_BISECT_RUNS,
	                          .expired = req->expired,
	                          .expired_arg = req->expired_arg};
	int *cluster = malloc((size_t)t->n * sizeof(*cluster));
	int *target = malloc((size_t)t->n * sizeof(*target));
	int rc = -1;

	if (!targets)
		goto out;
	if (!cluster || !target) {
		cpl_fail_memory(err);
		goto out;
	}
	if (!cpl_graph_halve(t->graph, &how, cluster, err) &&
	    !cpl_graph_halve(targets, &how, target, err))
		rc = cpl_clusters_pair(t, cluster, target, target_of, err);
out:
	cpl_comm_free(targets);
	free(cluster);
	free(target);
	return rc;
}

const struct cpl_mapper cpl_mapper_bipartition = {
        .name = "bipartition",
        .summary = "bisects ranks and hosts alike, again and again",
        .assign = assign,
};
