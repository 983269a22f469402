/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the dragonfly's routings share: ways inside a group.
 */
#ifndef CPL_ROUTING_INTERNAL_H
#define CPL_ROUTING_INTERNAL_H

#include "network/dragonfly.h"
#include "routing/routing.h"

/* Links between two routers of a group: 0, 1 or 2. */
static inline int cpl_local_hops(const struct cpl_dragonfly *df, int from,
                                 int to)
{
	return (from / df->columns != to / df->columns) +
	       (from % df->columns != to % df->columns);
}

/* Shortest ways of so many links: over either corner when there are two. */
static inline int cpl_local_paths(int hops)
{
	return hops == 2 ? 2 : 1;
}

/* Add bytes to load[], evenly over the shortest ways inside a group. O(1). */
void cpl_local_add(const struct cpl_network *net, int from, int to,
                   double bytes, double *load);

/*
 * The fewest links over one of the K global links with near gateways
 * leave[K] and far ones enter[K]; *paths = how many paths have so few. O(K).
 */
int cpl_direct_shortest(const struct cpl_dragonfly *df, const int *leave,
                        const int *enter, int from, int to, int *paths);

/* Packets of a pair of routers under static-indirect-sampled. */
#define CPL_SAMPLED_PACKETS 64

/* Its add with a number of packets of the caller's. O(packets * (K + hops)). */
void cpl_static_indirect_sample(const struct cpl_network *net, int from, int to,
                                double bytes, int packets, double *load);

#endif
