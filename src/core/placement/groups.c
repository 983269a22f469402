/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Free nodes on which the job's communication groups, where they are known, spread
 * over the fewest units of the network (mapping/group_layout.h); else near each
 * other, as by compact.
 */

#include "graph/arena.h"
#include "mapping/group_layout.h"
#include "placement/placement.h"
#include "placement/unit_sets.h"

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
                       int n, const int *rank_host, bool *taken, int *out)
{
	int found = 0;

	for (int r = 0; r < req->grid.ranks; r++)
		if (!taken[rank_host[r]]) {
			taken[rank_host[r]] = true;
			out[found++] = node[rank_host[r]];
		}
	for (int i = 0; i < n && found < req->n_nodes_wanted; i++)
		if (!taken[i])
			out[found++] = node[i];
}

static int place_groups(const struct cpl_placement_request *req, int *out,
                        struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int *node = cpl_arena_take(&arena, req->net->n_nodes, sizeof(*node));
	bool *taken = cpl_arena_take(&arena, req->net->n_nodes, sizeof(*taken));
	struct cpl_group_layout how = {.net = req->net,
	                               .grid = &req->grid,
	                               .comm = req->comm,
	                               .host = node,
	                               .per_host = req->ranks_per_node};
	int *rank_host = NULL, rc = -1;

	if (!req->grid.n) {
		rc = cpl_units_compact(req->net, req->free, req->n_nodes_wanted,
		                       out, err);
		goto out;
	}
	rank_host = cpl_arena_take(&arena, req->grid.ranks, sizeof(int));
	if (arena.failed)
		goto out;
	how.n_hosts = list_free(req, node);
	rc = cpl_group_layout(&how, rank_host, err);
	if (!rc)
		list_nodes(req, node, how.n_hosts, rank_host, taken, out);
out:
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
