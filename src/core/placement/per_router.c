/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "per-router:N": N nodes on each router, the last may have fewer; routers with
 * fewer free ones are left out, those taken are near each other.
 */
#include <stdlib.h>
#include <string.h>

#include "placement/unit_sets.h"

static int number(const char *option)
{
	size_t n = option ? strspn(option, "0123456789") : 0;

	return n && n < 7 && !option[n] ? atoi(option) : 0;
}

static int most_of_a_router(const struct cpl_network *net)
{
	int most = 0;

	for (int r = 0; r < net->n_node_routers; r++)
		if (cpl_network_nodes(net, r).n > most)
			most = cpl_network_nodes(net, r).n;
	return most;
}

static int check(const struct cpl_network *net, const char *option,
                 struct cpl_error *err)
{
	int n = number(option), most = net ? most_of_a_router(net) : n;

	if (!n)
		return cpl_fail(err, "it needs a number of nodes: per-router:2");
	if (n > most)
		return cpl_fail(err, "a router of this network has %d nodes",
		                most);
	return 0;
}

static int place_per_router(const struct cpl_placement_request *req, int *out,
                            struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	unsigned char *some = calloc((size_t)net->n_nodes, 1);
	int each = number(req->option), n = 0, rc = -1;

	if (!some)
		return cpl_fail_memory(err);
	for (int r = 0; r < net->n_node_routers; r++) {
		struct cpl_nodes nodes = cpl_network_nodes(net, r);
		int have = 0;

		for (int i = 0; i < nodes.n; i++)
			have += req->free[nodes.node[i]] != 0;
		if (have < each)
			continue;
		for (int i = 0, k = 0; k < each; i++)
			if (req->free[nodes.node[i]]) {
				some[nodes.node[i]] = 1;
				k++;
			}
		n += each;
	}
	if (n < req->n_nodes_wanted)
		cpl_fail(err,
		         "policy per-router:%d: %d nodes are wanted, and "
		         "routers with %d free ones make up %d",
		         each, req->n_nodes_wanted, each, n);
	else
		rc = cpl_units_compact(net, some, req->n_nodes_wanted, out,
		                       err) ||
		                     cpl_placement_require(req, out, err)
		             ? -1
		             : 0;
	free(some);
	return rc;
}

const struct cpl_placement_policy cpl_placement_per_router = {
        .name = "per-router",
        .summary = "so many nodes on each router (per-router:2)",
        .flags = CPL_PLACEMENT_CLASS,
        .check = check,
        .place = place_per_router,
};
