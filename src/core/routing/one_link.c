/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/legs.h"

#include <string.h>

#include "routing/dragonfly_paths.h"

/* Counts to how many other groups each router of the group is the gateway. */
static void count_gateways(const struct cpl_network *net, int group,
                           double *count)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int size = df->routers_per_group;

	memset(count, 0, (size_t)size * sizeof(*count));
	for (int other = 0; other < df->groups; other++)
		if (other != group)
			count[df->gateway[cpl_dragonfly_global(net, group,
			                                       other, 0)] -
			      group * size]++;
}

void cpl_one_link_hops(const struct cpl_network *net, double *scratch,
                       double *hops)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int size = df->routers_per_group;
	/* The links from a router to all others of its group. */
	double around = (df->rows - 1) + (df->columns - 1) +
	                2.0 * (df->rows - 1) * (df->columns - 1);

	for (int group = 0; group < df->groups; group++) {
		count_gateways(net, group, scratch);
		for (int i = 0; i < size; i++) {
			double sum =
			        around + (df->groups - 1) * (size + around);

			for (int gateway = 0; gateway < size; gateway++)
				sum += size * scratch[gateway] *
				       cpl_local_hops(df, i, gateway);
			hops[group * size + i] = sum;
		}
	}
}

void cpl_one_link_legs(const struct cpl_network *net, int group,
                       const double *sent, const double *received,
                       const double *sent_by, const double *received_by,
                       double *scratch, double *load)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int size = df->routers_per_group, first = group * size;
	double *link = load + net->link_class[CPL_DRAGONFLY_GLOBAL].first;
	double *local = scratch, *count = scratch + (size_t)size * (size_t)size;
	/* Bytes that each gateway takes in and out for each router. */
	double *in = count + size, *out = in + size;

	count_gateways(net, group, count);
	memset(in, 0, 2 * (size_t)size * sizeof(*in));
	for (int other = 0; other < df->groups; other++) {
		int64_t to;
		int gateway;

		if (other == group)
			continue;
		to = cpl_dragonfly_global(net, group, other, 0);
		gateway = df->gateway[to] - first;
		link[to] += size * (sent_by[group] + received_by[other]);
		in[gateway] += sent_by[other];
		out[gateway] += received_by[other];
	}
	/* Each path inside the group also carries what a gives to the gateway b
	 * for the routers of other groups, and what b gets from them through
	 * a. */
	for (int a = 0; a < size; a++)
		for (int b = 0; b < size; b++)
			local[a * size + b] =
			        sent[first + a] * (1 + size * count[b]) +
			        received[first + b] * (1 + size * count[a]) +
			        in[a] + out[b];
	cpl_local_spread(net, group, local, load);
}

static void spread_rows(const struct cpl_network *net, int group,
                        const double *local, double *load)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int size = df->routers_per_group, rows = df->rows,
	    columns = df->columns;

	for (int a = 0; a < size; a++) {
		int r = a / columns, c = a % columns;
		double *link = load + cpl_dragonfly_row_link(
		                              net, group * size + a, c ? 0 : 1);

		for (int to = 0; to < columns; to++) {
			/* Half goes by row first, half by column. */
			double half = 0;

			if (to == c)
				continue;
			for (int i = 0; i < rows; i++)
				if (i != r)
					half += local[a * size + i * columns +
					              to];
			for (int i = 0; i < rows; i++)
				if (i != r)
					half += local[(i * columns + c) * size +
					              r * columns + to];
			*link++ +=
			        local[a * size + r * columns + to] + half / 2;
		}
	}
}

static void spread_columns(const struct cpl_network *net, int group,
                           const double *local, double *load)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int size = df->routers_per_group, rows = df->rows,
	    columns = df->columns;

	for (int a = 0; a < size; a++) {
		int r = a / columns, c = a % columns;
		double *link = load + cpl_dragonfly_column_link(
		                              net, group * size + a, r ? 0 : 1);

		for (int to = 0; to < rows; to++) {
			const double *own = local + a * size + to * columns;
			double half = 0;

			if (to == r)
				continue;
			for (int i = 0; i < columns; i++) {
				if (i == c)
					continue;
				half += own[i];
				half += local[(r * columns + i) * size +
				              to * columns + c];
			}
			*link++ += own[c] + half / 2;
		}
	}
}

void cpl_local_spread(const struct cpl_network *net, int group,
                      const double *local, double *load)
{
	if (cpl_dragonfly_of(net)->columns > 1)
		spread_rows(net, group, local, load);
	if (cpl_dragonfly_of(net)->rows > 1)
		spread_columns(net, group, local, load);
}
