/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/arena.h"
#include "mapping/mapping_internal.h"

/* Halves the n hosts, then the ranks for hosts in that order. */
static int halve(const struct cpl_map_request *req, const int *host, int n,
                 int *order, int *first, int *rank, struct cpl_error *err)
{
	struct cpl_halving how = {.n = n,
	                          .seed = req->seed,
	                          .runs = CPL_GRAPH_BISECT_RUNS,
	                          .expired = req->expired,
	                          .expired_arg = req->expired_arg};
	struct cpl_comm *hosts = cpl_map_host_graph(req, host, n, err);
	int rc;

	if (!hosts)
		return -1;
	rc = cpl_graph_halve(hosts, &how, order, err);
	cpl_comm_free(hosts);
	if (rc)
		return -1;
	for (int i = 0; i < n; i++)
		first[i + 1] = first[i] + req->slots[host[order[i]]];
	how.first = first;
	return cpl_graph_halve(req->graph, &how, rank, err);
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int *rank = cpl_arena_take(&arena, req->graph->ranks, sizeof(*rank));
	int *host = cpl_arena_take(&arena, req->n_hosts, sizeof(*host));
	int *order = cpl_arena_take(&arena, req->n_hosts, sizeof(*order));
	int *first = cpl_arena_take(&arena, req->n_hosts + 1, sizeof(*first));
	int n = 0, rc = -1;

	for (int h = 0; h < req->n_hosts && !arena.failed; h++)
		if (req->slots[h])
			host[n++] = h;
	if (!arena.failed)
		rc = halve(req, host, n, order, first, rank, err);
	for (int i = 0; !rc && i < n; i++)
		for (int k = first[i]; k < first[i + 1]; k++)
			rank_host[rank[k]] = host[order[i]];
	return cpl_arena_end(&arena, rc, err);
}

const struct cpl_mapper cpl_mapper_recursive = {
        .name = "recursive",
        .summary = "LibTopoMap's bisection of ranks and of the host graph",
        .map = map,
};
