/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

static const int64_t *routes(const struct cpl_network *net, int from, int to)
{
	return net->routes->first + (int64_t)from * net->n_node_routers + to;
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	const struct cpl_route_table *table = net->routes;
	const int64_t *pair = routes(net, from, to);

	if (from == to)
		return;
	bytes /= (double)(pair[1] - pair[0]);
	for (int64_t i = table->start[pair[0]]; i < table->start[pair[1]]; i++)
		load[table->link[i]] += bytes;
}

static double hops(const struct cpl_network *net, int from, int to)
{
	const struct cpl_route_table *table = net->routes;
	const int64_t *pair = routes(net, from, to);

	if (from == to)
		return 0;
	return (double)(table->start[pair[1]] - table->start[pair[0]]) /
	       (double)(pair[1] - pair[0]);
}

const struct cpl_routing cpl_routing_table = {
        .name = "table",
        .short_name = "TABLE",
        .summary = "the routes of the file \"routing_table\"",
        .flags = CPL_NETWORK_TABLES,
        .add = add_flow,
        .hops = hops,
};
