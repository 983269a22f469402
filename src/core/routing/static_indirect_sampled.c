/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"
#include "routing/dragonfly_paths.h"

#define SEED 1
/* What is drawn for a packet: its intermediate router and the two paths. */
enum {
	DRAW_ROUTER,
	DRAW_WAY_TO,
	DRAW_WAY_ON,
	N_DRAWS,
};

static uint64_t draw(const struct cpl_network *net, int from, int to,
                     int packet, int what)
{
	uint64_t flow =
	        (uint64_t)from * (uint64_t)net->n_routers + (uint64_t)to;

	return cpl_random(SEED, flow,
	                  (uint64_t)packet * N_DRAWS + (uint64_t)what);
}

/* Turns random bits into a number in 0 .. n - 1. */
static int below(uint64_t bits, int n)
{
	return (int)(((unsigned __int128)bits * (unsigned)n) >> 64);
}

/* Draws one of all routers but the ends. */
static int intermediate(const struct cpl_network *net, int from, int to,
                        int packet)
{
	int low = from < to ? from : to, high = from < to ? to : from;
	int i = below(draw(net, from, to, packet, DRAW_ROUTER),
	              net->n_routers - 2);

	i += i >= low;
	return i + (i >= high);
}

/* Adds bytes on one of the shortest paths inside a group. */
static void add_local_path(const struct cpl_network *net, int from, int to,
                           int way, double bytes, double *load)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int corner = from;

	if (cpl_local_hops(df, from, to) == 2)
		corner = way ? to / df->columns * df->columns +
		                         from % df->columns
		             : from / df->columns * df->columns +
		                         to % df->columns;
	cpl_local_add(net, from, corner, bytes, load);
	cpl_local_add(net, corner, to, bytes, load);
}

/* The fewest links over one of the K global links, with near gateways leave[K]
 * and far ones enter[K]; *paths is the number of such paths. O(K). */
static int shortest(const struct cpl_dragonfly *df, const int *leave,
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

/* Adds bytes on one of all minimal paths. */
static void add_minimal_path(const struct cpl_network *net, int from, int to,
                             double bytes, uint64_t bits, double *load)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int a = from / df->routers_per_group, b = to / df->routers_per_group;
	const int *leave, *enter;
	int64_t first;
	int fewest, paths, way;

	if (a == b) {
		add_local_path(net, from, to, (int)(bits & 1), bytes, load);
		return;
	}
	first = cpl_dragonfly_global(net, a, b, 0);
	leave = df->gateway + first;
	enter = df->gateway + cpl_dragonfly_global(net, b, a, 0);
	first += net->link_class[CPL_DRAGONFLY_GLOBAL].first;
	fewest = shortest(df, leave, enter, from, to, &paths);
	way = below(bits, paths);
	for (int k = 0; k < df->global_per_pair; k++) {
		int before = cpl_local_hops(df, from, leave[k]);
		int after = cpl_local_hops(df, enter[k], to);
		int n = cpl_local_paths(before) * cpl_local_paths(after);

		if (before + 1 + after != fewest)
			continue;
		if (way >= n) {
			way -= n;
			continue;
		}
		add_local_path(net, from, leave[k],
		               way % cpl_local_paths(before), bytes, load);
		load[first + k] += bytes;
		add_local_path(net, enter[k], to, way / cpl_local_paths(before),
		               bytes, load);
		return;
	}
}

void cpl_static_indirect_sample(const struct cpl_network *net, int from, int to,
                                double bytes, int packets, double *load)
{
	if (from == to)
		return;
	if (net->n_routers == 2) {
		cpl_routing_static_direct.add(net, from, to, bytes, load);
		return;
	}
	bytes /= packets;
	for (int i = 0; i < packets; i++) {
		int over = intermediate(net, from, to, i);

		add_minimal_path(net, from, over, bytes,
		                 draw(net, from, to, i, DRAW_WAY_TO), load);
		add_minimal_path(net, over, to, bytes,
		                 draw(net, from, to, i, DRAW_WAY_ON), load);
	}
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	cpl_static_indirect_sample(net, from, to, bytes, CPL_SAMPLED_PACKETS,
	                           load);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	const struct cpl_routing *direct = &cpl_routing_static_direct;
	double sum = 0;

	if (from == to || net->n_routers == 2)
		return direct->hops(net, from, to);
	for (int i = 0; i < CPL_SAMPLED_PACKETS; i++) {
		int over = intermediate(net, from, to, i);

		sum += direct->hops(net, from, over) +
		       direct->hops(net, over, to);
	}
	return sum / CPL_SAMPLED_PACKETS;
}

const struct cpl_routing cpl_routing_static_indirect_sampled = {
        .name = "static-indirect-sampled",
        .short_name = "SIS",
        .type = &cpl_network_dragonfly,
        .flags = CPL_ROUTING_SAMPLED,
        .summary = "64 packets a flow, each over a router drawn at random",
        .add = add_flow,
        .hops = hops,
};
