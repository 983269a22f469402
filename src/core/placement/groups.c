/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Free nodes on which the job's communication groups, where they are known, spread
 * over the fewest units of the network (mapping/group_layout.h); else near each
 * other, as by compact. On a network with domains those between which the job's
 * ranks send the fewest bytes (mapping/domain_layout.h).
 */

#include <string.h>

#include "graph/arena.h"
#include "mapping/domain_layout.h"
#include "mapping/group_layout.h"
#include "placement/placement.h"
#include "placement/unit_sets.h"
#include "traffic/objective.h"

static int list_free(const struct cpl_placement_request *req, int *node)
{
	int n = 0;

	for (int i = 0; i < req->net->n_nodes; i++)
		if (req->free[i])
			node[n++] = i;
	return n;
}

/* Nodes in the order of their first ranks, then free ones that no rank needs. */
static void list_nodes(const struct cpl_placement_request *req, const int *node,
                       int n, const int *rank_host, int ranks, bool *taken,
                       int *out)
{
	int found = 0;

	for (int r = 0; r < ranks; r++)
		if (!taken[rank_host[r]]) {
			taken[rank_host[r]] = true;
			out[found++] = node[rank_host[r]];
		}
	for (int i = 0; i < n && found < req->n_nodes_wanted; i++)
		if (!taken[i])
			out[found++] = node[i];
}

/* Seeds of searches that are tried where the mapper finds no layout as good as stock's
 * on the nodes of the first, if work is not limited. */
#define TRIES 4

/* Lists the nodes of a layout with few bytes between domains. Returns 1 where the mapper
 * of this name finds no more than what blocks of ranks on the first free nodes send, on
 * no busier port, 0 where it does, or -1 with err. */
static int try_nodes(const struct cpl_placement_request *req,
                     struct cpl_domain_layout how, int *rank_host, bool *taken,
                     int *out, struct cpl_error *err)
{
	struct cpl_domain_cost stock, own, best;

	if (cpl_domain_layout(&how, rank_host, &stock, &best, err))
		return -1;
	memset(taken, 0, (size_t)req->net->n_nodes * sizeof(*taken));
	list_nodes(req, how.host, how.n_hosts, rank_host, req->comm->ranks, taken, out);
	how.host = out;
	how.n_hosts = req->n_nodes_wanted;
	how.seed = 0;
	if (cpl_domain_layout(&how, rank_host, &own, &best, err))
		return -1;
	return cpl_objective_compare(best.port, stock.port) <= 0 &&
	       cpl_objective_compare(best.bytes, stock.bytes) <= 0;
}

static int place_in_domains(const struct cpl_placement_request *req,
                            struct cpl_arena *arena, int *out,
                            struct cpl_error *err)
{
	int n = req->net->n_nodes, rc = 0;
	int *node = cpl_arena_take(arena, n, sizeof(*node));
	bool *taken = cpl_arena_take(arena, n, sizeof(*taken));
	int *rank_host = cpl_arena_take(arena, req->comm->ranks, sizeof(int));
	struct cpl_domain_layout how = {.net = req->net,
	                                .comm = req->comm,
	                                .grid = req->grid.n ? &req->grid : NULL,
	                                .host = node,
	                                .per_host = req->ranks_per_node,
	                                .work = req->work};

	if (arena->failed)
		return -1;
	how.n_hosts = list_free(req, node);
	for (; !rc && how.seed < (req->work ? 1 : TRIES); how.seed++)
		rc = try_nodes(req, how, rank_host, taken, out, err);
	if (!rc)
		memcpy(out, node, (size_t)req->n_nodes_wanted * sizeof(*out));
	return rc < 0 ? -1 : 0;
}

static int place_by_groups(const struct cpl_placement_request *req,
                           struct cpl_arena *arena, int *out,
                           struct cpl_error *err)
{
	int *node = cpl_arena_take(arena, req->net->n_nodes, sizeof(*node));
	bool *taken = cpl_arena_take(arena, req->net->n_nodes, sizeof(*taken));
	int *rank_host = cpl_arena_take(arena, req->grid.ranks, sizeof(int));
	struct cpl_group_layout how = {.net = req->net,
	                               .grid = &req->grid,
	                               .comm = req->comm,
	                               .host = node,
	                               .per_host = req->ranks_per_node};

	if (arena->failed)
		return -1;
	how.n_hosts = list_free(req, node);
	if (cpl_group_layout(&how, rank_host, err))
		return -1;
	list_nodes(req, node, how.n_hosts, rank_host, req->grid.ranks, taken, out);
	return 0;
}

static int place_groups(const struct cpl_placement_request *req, int *out,
                        struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int rc;

	if (req->comm && req->net->accelerators.domain_of &&
	    req->ranks_per_node > 0 &&
	    (req->comm->ranks - 1) / req->ranks_per_node < req->n_nodes_wanted)
		rc = place_in_domains(req, &arena, out, err);
	else if (req->grid.n)
		rc = place_by_groups(req, &arena, out, err);
	else
		rc = cpl_units_compact(req->net, req->free, req->n_nodes_wanted,
		                       out, err);
	rc = cpl_arena_end(&arena, rc, err);
	return rc ? -1 : cpl_placement_require(req, out, err);
}

/* A candidate of the searches where groups are known. */
const struct cpl_placement_policy cpl_placement_groups = {
        .name = "groups",
        .short_name = "GRP",
        .summary = "communication groups on the fewest units",
        .flags = CPL_PLACEMENT_CLASS,
        .place = place_groups,
};
