/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/dragonfly.h"
#include "routing/routing.h"

/* Routers on the shortest ways inside a group: 0, 1 or 2 links apart. */
static int local_hops(const struct cpl_dragonfly *df, int from, int to)
{
	return (from / df->columns != to / df->columns) +
	       (from % df->columns != to % df->columns);
}

static int local_paths(int hops)
{
	return hops == 2 ? 2 : 1;
}

static void add_local(const struct cpl_network *net, int from, int to,
                      double bytes, double *load)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	int from_row = from / df->columns, to_row = to / df->columns;
	int from_column = from % df->columns, to_column = to % df->columns;
	int row = to_row % df->rows;

	if (from == to)
		return;
	if (from_row == to_row) {
		load[cpl_dragonfly_row_link(net, from, to_column)] += bytes;
		return;
	}
	if (from_column == to_column) {
		load[cpl_dragonfly_column_link(net, from, row)] += bytes;
		return;
	}
	bytes /= 2;
	load[cpl_dragonfly_row_link(net, from, to_column)] += bytes;
	load[cpl_dragonfly_column_link(net, from_row * df->columns + to_column,
	                               row)] += bytes;
	load[cpl_dragonfly_column_link(net, from, row)] += bytes;
	load[cpl_dragonfly_row_link(net, to_row * df->columns + from_column,
	                            to_column)] += bytes;
}

/* Fewest hops over the K global links; *paths = how many paths have them. */
static int shortest(const struct cpl_dragonfly *df, const int *leave,
                    const int *enter, int from, int to, int *paths)
{
	int fewest = 6;

	*paths = 0;
	for (int k = 0; k < df->global_per_pair; k++) {
		int before = local_hops(df, from, leave[k]);
		int after = local_hops(df, enter[k], to);
		int hops = before + 1 + after;

		if (hops < fewest) {
			fewest = hops;
			*paths = 0;
		}
		if (hops == fewest)
			*paths += local_paths(before) * local_paths(after);
	}
	return fewest;
}

static void add(const struct cpl_network *net, int from, int to, double bytes,
                double *load)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	int a = from / df->routers_per_group, b = to / df->routers_per_group;
	const int *leave, *enter;
	int64_t first;
	int fewest, paths;

	if (a == b) {
		add_local(net, from, to, bytes, load);
		return;
	}
	first = cpl_dragonfly_global(net, a, b, 0);
	leave = df->gateway + first;
	enter = df->gateway + cpl_dragonfly_global(net, b, a, 0);
	first += net->link_class[CPL_DRAGONFLY_GLOBAL].first;
	fewest = shortest(df, leave, enter, from, to, &paths);
	for (int k = 0; k < df->global_per_pair; k++) {
		int before = local_hops(df, from, leave[k]);
		int after = local_hops(df, enter[k], to);
		double part;

		if (before + 1 + after != fewest)
			continue;
		part = bytes * (local_paths(before) * local_paths(after)) /
		       paths;
		add_local(net, from, leave[k], part, load);
		load[first + k] += part;
		add_local(net, enter[k], to, part, load);
	}
}

static double hops(const struct cpl_network *net, int from, int to)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	int a = from / df->routers_per_group, b = to / df->routers_per_group;
	int paths;

	if (a == b)
		return local_hops(df, from, to);
	return shortest(df, df->gateway + cpl_dragonfly_global(net, a, b, 0),
	                df->gateway + cpl_dragonfly_global(net, b, a, 0), from,
	                to, &paths);
}

const struct cpl_routing cpl_routing_static_direct = {
        .name = "static-direct",
        .short_name = "SD",
        .type = CPL_NETWORK_DRAGONFLY,
        .summary = "evenly over all minimal paths",
        .add = add,
        .hops = hops,
};
