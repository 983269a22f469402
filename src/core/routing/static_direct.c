/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing_internal.h"

void cpl_local_add(const struct cpl_network *net, int from, int to,
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

int cpl_direct_shortest(const struct cpl_dragonfly *df, const int *leave,
                        const int *enter, int from, int to, int *paths)
{
	int fewest = 6;

	*paths = 0;
	for (int k = 0; k < df->global_per_pair; k++) {
		int before = cpl_local_hops(df, from, leave[k]);
		int after = cpl_local_hops(df, enter[k], to);
		int hops = before + 1 + after;

		if (hops < fewest) {
			fewest = hops;
			*paths = 0;
		}
		if (hops == fewest)
			*paths += cpl_local_paths(before) *
			          cpl_local_paths(after);
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
		cpl_local_add(net, from, to, bytes, load);
		return;
	}
	first = cpl_dragonfly_global(net, a, b, 0);
	leave = df->gateway + first;
	enter = df->gateway + cpl_dragonfly_global(net, b, a, 0);
	first += net->link_class[CPL_DRAGONFLY_GLOBAL].first;
	fewest = cpl_direct_shortest(df, leave, enter, from, to, &paths);
	for (int k = 0; k < df->global_per_pair; k++) {
		int before = cpl_local_hops(df, from, leave[k]);
		int after = cpl_local_hops(df, enter[k], to);
		double part;

		if (before + 1 + after != fewest)
			continue;
		part = bytes *
		       (cpl_local_paths(before) * cpl_local_paths(after)) /
		       paths;
		cpl_local_add(net, from, leave[k], part, load);
		load[first + k] += part;
		cpl_local_add(net, enter[k], to, part, load);
	}
}

static double hops(const struct cpl_network *net, int from, int to)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	int a = from / df->routers_per_group, b = to / df->routers_per_group;
	int paths;

	if (a == b)
		return cpl_local_hops(df, from, to);
	return cpl_direct_shortest(
	        df, df->gateway + cpl_dragonfly_global(net, a, b, 0),
	        df->gateway + cpl_dragonfly_global(net, b, a, 0), from, to,
	        &paths);
}

const struct cpl_routing cpl_routing_static_direct = {
        .name = "static-direct",
        .short_name = "SD",
        .type = CPL_NETWORK_DRAGONFLY,
        .summary = "evenly over all minimal paths",
        .add = add,
        .hops = hops,
};
