/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/fattree.h"
#include "routing/routing.h"

/* Levels to climb until both leaves are below. */
static int climb(const struct cpl_fattree *tree, int from, int to)
{
	int levels = 0;

	for (; from != to; levels++) {
		from /= tree->down[levels];
		to /= tree->down[levels];
	}
	return levels;
}

/* The one route to a node. Way up and way down take the same choices, so the
 * way down needs no other arithmetic. */
static void add_route(const struct cpl_network *net, int from, int to, int node,
                      double bytes, double *load)
{
	const struct cpl_fattree *tree = &net->fattree;
	int levels = climb(tree, from, to), replica = 0;

	for (int l = 0; l < levels; l++) {
		int below = replica * tree->subtrees[l];
		int choice = node % (tree->up[l] * tree->ports[l]);
		int parent = choice % tree->up[l], port = choice / tree->up[l];

		load[cpl_fattree_link(net, l, below + from, parent, port, 0)] +=
		        bytes;
		load[cpl_fattree_link(net, l, below + to, parent, port, 1)] +=
		        bytes;
		replica = replica * tree->up[l] + parent;
		node /= tree->up[l];
		from /= tree->down[l];
		to /= tree->down[l];
	}
}

static void add(const struct cpl_network *net, int from, int to, double bytes,
                double *load)
{
	int first = to * net->nodes_per_router, nodes = 0;

	for (int p = 0; p < net->nodes_per_router; p++)
		nodes += net->node_name[first + p] != NULL;
	for (int p = 0; p < net->nodes_per_router; p++)
		if (!nodes || net->node_name[first + p])
			add_route(
			        net, from, to, first + p,
			        bytes / (nodes ? nodes : net->nodes_per_router),
			        load);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return 2 * climb(&net->fattree, from, to);
}

const struct cpl_routing cpl_routing_dmodk = {
        .name = "dmodk",
        .short_name = "DMODK",
        .type = CPL_NETWORK_FATTREE,
        .summary = "the way up by the destination node's number, modulo ports",
        .add = add,
        .hops = hops,
};
