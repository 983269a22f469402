/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	while (from != to) {
		int first = cpl_network_next_link(net, from, to), links = 0;

		for (int i = first; i >= 0; i = net->next_links.twin[i])
			links++;
		for (int i = first; i >= 0; i = net->next_links.twin[i])
			load[i] += bytes / links;
		from = net->link_to[first];
	}
}

static double hops(const struct cpl_network *net, int from, int to)
{
	int n = 0;

	for (; from != to; n++)
		from = net->link_to[cpl_network_next_link(net, from, to)];
	return n;
}

const struct cpl_routing cpl_routing_shortest_path = {
        .name = "shortest-path",
        .short_name = "SP",
        .flags = CPL_NETWORK_NEXT_LINKS,
        .summary = "fewest hops, ties to the lowest next router, evenly "
                   "over parallel links",
        .add = add_flow,
        .hops = hops,
};
