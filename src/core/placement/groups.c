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

/* Lists the nodes on which the mapper of this name keeps no port busier than blocks of
 * ranks on the first free nodes do, nor sends more between domains: at worst these
 * nodes themselves. how->host has the free ones. */
static int list_in_domains(const struct cpl_placement_request *req,
                           struct cpl_domain_layout *how, int *rank_host, bool *taken,
                           int *out, struct cpl_error *err)
{
	struct cpl_domain_cost stock, least, own;

	if (cpl_domain_layout(how, rank_host, &stock, &least, err))
		return -1;
	list_nodes(req, how->host, how->n_hosts, rank_host, how->comm->ranks, taken,
	           out);
	how->host = out;
	how->n_hosts = req->n_nodes_wanted;
	if (cpl_domain_blocks(how, rank_host, err) ||
	    cpl_domain_layout(how, rank_host, &own, &least, err))
		return -1;
	return least.port <= stock.port * (1 + 1e-9) &&
	       least.bytes <= stock.bytes * (1 + 1e-9);
}

static int place_groups(const struct cpl_placement_request *req, int *out,
                        struct cpl_error *err)
{
	bool domains = req->comm && req->net->accelerators.domain_of &&
	               req->ranks_per_node > 0;
	struct cpl_arena arena = {0};
	int ranks = req->grid.n ? req->grid.ranks : domains ? req->comm->ranks : 0;
	int *node = cpl_arena_take(&arena, req->net->n_nodes, sizeof(*node));
	bool *taken = cpl_arena_take(&arena, req->net->n_nodes, sizeof(*taken));
	int *rank_host = cpl_arena_take(&arena, ranks, sizeof(*rank_host));
	struct cpl_group_layout how = {.net = req->net,
	                               .grid = &req->grid,
	                               .comm = req->comm,
	                               .host = node,
	                               .per_host = req->ranks_per_node};
	struct cpl_domain_layout in = {req->net, req->comm, 0, node,
	                               req->ranks_per_node};
	int rc = -1;

	if (arena.failed)
		goto out;
	how.n_hosts = in.n_hosts = list_free(req, node);
	if (req->grid.n)
		rc = cpl_group_layout(&how, rank_host, err);
	else if (domains)
		rc = cpl_domain_blocks(&in, rank_host, err);
	else
		rc = cpl_units_compact(req->net, req->free, req->n_nodes_wanted,
		                       out, err);
	if (!rc && domains) {
		rc = list_in_domains(req, &in, rank_host, taken, out, err);
		if (!rc)
			memcpy(out, node,
			       (size_t)req->n_nodes_wanted * sizeof(*out));
		rc = rc < 0 ? -1 : 0;
	} else if (!rc && req->grid.n) {
		list_nodes(req, node, how.n_hosts, rank_host, ranks, taken, out);
	}
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
