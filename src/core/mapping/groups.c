/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "graph/arena.h"
#include "mapping/domain_layout.h"
#include "mapping/group_layout.h"
#include "mapping/mapping_internal.h"

/* The ranks of each host, where those that have any have as many but for the last;
 * else 0. */
static int ranks_each(const struct cpl_map_request *req)
{
	int each = req->n_hosts ? req->slots[0] : 0;

	for (int h = 1; h < req->n_hosts && each; h++)
		if (req->slots[h] != each)
			each = 0;
	return each;
}

static bool has_groups(const struct cpl_map_request *req)
{
	return req->grid && cpl_rank_grid_is_sound(req->grid, req->grid->ranks) &&
	       req->grid->ranks <= req->comm->ranks && ranks_each(req);
}

/* Slots that are left go to ranks beyond the groups, which send nothing. */
static int by_groups(const struct cpl_map_request *req, int *rank_host,
                     struct cpl_error *err)
{
	struct cpl_group_layout how = {.net = req->net,
	                               .grid = req->grid,
	                               .comm = req->comm,
	                               .n_hosts = req->n_hosts,
	                               .host = req->host,
	                               .per_host = ranks_each(req)};
	struct cpl_arena arena = {0};
	int *left = cpl_arena_take(&arena, req->n_hosts, sizeof(*left));
	int rc = -1, h = 0;

	if (left)
		rc = cpl_group_layout(&how, rank_host, err);
	for (int i = 0; !rc && i < req->n_hosts; i++)
		left[i] = req->slots[i];
	for (int r = 0; !rc && r < req->grid->ranks; r++)
		left[rank_host[r]]--;
	for (int r = req->grid->ranks; !rc && r < req->comm->ranks; r++) {
		while (!left[h])
			h++;
		left[h]--;
		rank_host[r] = h;
	}
	return cpl_arena_end(&arena, rc, err);
}

/* Hosts in the order of their routers, and where units of a level begin. */
struct host_order {
	const struct cpl_network *net;
	const int *router;
};

/* The end of a unit of the coarsest level that cuts these hosts, the one nearest to
 * their middle. */
static int middle(const void *arg, int low, int high)
{
	const struct host_order *o = arg;
	const struct cpl_network *net = o->net;
	int half = low + (high - low) / 2;

	for (int i = 0; i < net->n_levels; i++) {
		const struct cpl_level *level = &net->level[i];
		int best = 0;

		for (int at = low + 1; at < high; at++)
			if (cpl_level_unit(level, o->router[at]) !=
			            cpl_level_unit(level, o->router[at - 1]) &&
			    (!best || abs(at - half) < abs(best - half)))
				best = at;
		if (best)
			return best;
	}
	return half;
}

/* Ranks are halved where units are. */
static int by_traffic(const struct cpl_map_request *req, int *rank_host,
                      struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	struct cpl_keyed *host =
	        cpl_arena_take(&arena, req->n_hosts, sizeof(*host));
	int *router = cpl_arena_take(&arena, req->n_hosts, sizeof(*router));
	int *first = cpl_arena_take(&arena, req->n_hosts + 1, sizeof(*first));
	int *rank = cpl_arena_take(&arena, req->comm->ranks, sizeof(*rank));
	struct host_order order = {req->net, router};
	struct cpl_halving how = {.n = req->n_hosts,
	                          .first = first,
	                          .middle = middle,
	                          .arg = &order,
	                          .seed = req->seed,
	                          .runs = CPL_GRAPH_BISECT_RUNS,
	                          .expired = req->expired,
	                          .expired_arg = req->expired_arg};
	int rc = -1;

	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	for (int h = 0; h < req->n_hosts; h++)
		host[h] = (struct cpl_keyed){
		        (uint64_t)cpl_network_router(req->net, req->host[h])
		                        << 32 |
		                (uint32_t)req->host[h],
		        h};
	cpl_keyed_sort(host, req->n_hosts);
	for (int i = 0; i < req->n_hosts; i++) {
		router[i] = (int)(host[i].key >> 32);
		first[i + 1] = first[i] + req->slots[host[i].item];
	}
	rc = cpl_graph_halve(req->graph, &how, rank, err);
	for (int i = 0; !rc && i < req->n_hosts; i++)
		for (int k = first[i]; k < first[i + 1]; k++)
			rank_host[rank[k]] = host[i].item;
	return cpl_arena_end(&arena, rc, err);
}

/* Where nodes are in domains what counts is the bytes between these. */
static bool by_domains(const struct cpl_map_request *req)
{
	return req->net->accelerators.domain_of && ranks_each(req) &&
	       (!has_groups(req) || req->grid->ranks == req->comm->ranks);
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	struct cpl_domain_layout how = {.net = req->net,
	                                .comm = req->comm,
	                                .grid = has_groups(req) ? req->grid
	                                                        : NULL,
	                                .n_hosts = req->n_hosts,
	                                .host = req->host,
	                                .per_host = ranks_each(req),
	                                .work = req->work < INT64_MAX ? req->work
	                                                              : 0};
	struct cpl_domain_cost blocks, best;

	if (by_domains(req))
		return cpl_domain_layout(&how, rank_host, &blocks, &best, err);
	return has_groups(req) ? by_groups(req, rank_host, err)
	                       : by_traffic(req, rank_host, err);
}

const struct cpl_mapper cpl_mapper_groups = {
        .name = "groups",
        .summary = "communication groups whole in the network's units",
        .map = map,
};
