/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/graph.h"
#include "routing/routing.h"

static void add(const struct cpl_network *net, int from, int to, double bytes,
                double *load)
{
	while (from != to) {
		int link = cpl_graph_next(net, from, to);

		load[link] += bytes;
		from = net->link_to[link];
	}
}

static double hops(const struct cpl_network *net, int from, int to)
{
	int n = 0;

	for (; from != to; n++)
		from = net->link_to[cpl_graph_next(net, from, to)];
	return n;
}

const struct cpl_routing cpl_routing_shortest_path = {
        .name = "shortest-path",
        .short_name = "SP",
        .type = CPL_NETWORK_GRAPH,
        .summary = "fewest hops, ties to the lowest next router",
        .add = add,
        .hops = hops,
};
