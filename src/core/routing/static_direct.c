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

static int put(struct cpl_share *share, int n, int64_t link, double part)
{
	share[n].link = (int)link;
	share[n].part = part;
	return n + 1;
}

static int local_links(const struct cpl_network *net, int from, int to,
                       double part, struct cpl_share *share, int n)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	int from_row = from / df->columns, to_row = to / df->columns;
	int from_column = from % df->columns, to_column = to % df->columns;
	int row = to_row % df->rows;

	if (from == to)
		return n;
	if (from_row == to_row)
		return put(share, n,
		           cpl_dragonfly_row_link(net, from, to_column), part);
	if (from_column == to_column)
		return put(share, n, cpl_dragonfly_column_link(net, from, row),
		           part);
	part /= 2;
	n = put(share, n, cpl_dragonfly_row_link(net, from, to_column), part);
	n = put(share, n,
	        cpl_dragonfly_column_link(
	                net, from_row * df->columns + to_column, row),
	        part);
	n = put(share, n, cpl_dragonfly_column_link(net, from, row), part);
	return put(share, n,
	           cpl_dragonfly_row_link(
	                   net, to_row * df->columns + from_column, to_column),
	           part);
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	int a = from / df->routers_per_group, b = to / df->routers_per_group;
	const int *leave, *enter;
	int64_t first;
	int fewest, paths, n = 0;

	if (a == b)
		return local_links(net, from, to, 1, share, 0);
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
		part = (double)(cpl_local_paths(before) *
		                cpl_local_paths(after)) /
		       paths;
		n = local_links(net, from, leave[k], part, share, n);
		n = put(share, n, first + k, part);
		n = local_links(net, enter[k], to, part, share, n);
	}
	return n;
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
        .links = links,
        .hops = hops,
};
