/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A dragonfly or dragonfly+ seen as groups with K links between each two. */
#pragma once

#include "network/dragonfly/wiring.h"

struct cpl_linked_groups {
	const struct cpl_network *net;
	int n, links; /* K */
	int members;  /* routers in the largest */
	int64_t first;      /* id of the link of number 0 */
	const int *gateway; /* [n * (n - 1) * K] router at a link's near end */
};

/* Takes such a network only, whose arrays it shows. O(groups). */
struct cpl_linked_groups cpl_groups_of(const struct cpl_network *net);

/* The number of two groups in the order of their links; a is not b. */
static inline int64_t cpl_groups_pair(const struct cpl_linked_groups *g, int a,
                                      int b)
{
	return cpl_wires_pair(g->n, a, b);
}

/* The router in group a of the k-th link to b. */
static inline int cpl_groups_gateway(const struct cpl_linked_groups *g, int a,
                                     int b, int k)
{
	return g->gateway[cpl_groups_pair(g, a, b) * g->links + k];
}

/* The group of any router. O(1); for a dragonfly+'s spine O(log groups). */
int cpl_groups_group(const struct cpl_linked_groups *g, int router);
/* The number of a group's routers; next, a router's position among them, and
 * the router at a position. O(1). */
int cpl_groups_members(const struct cpl_linked_groups *g, int group);
int cpl_groups_index(const struct cpl_linked_groups *g, int group, int router);
int cpl_groups_router(const struct cpl_linked_groups *g, int group, int place);

/* Adds bytes to load (unless it is NULL), evenly over the shortest paths inside
 * a group, of which one end is a gateway. Returns the links of a path. O(1);
 * between two spines of a dragonfly+ O(leaves). */
int cpl_groups_inside(const struct cpl_linked_groups *g, int from, int to,
                      double bytes, double *load);

/* The links from a router of group `own` to the K gateways to another group
 * together; 0 for its own. O(K), or O(1) for up to 64 on a dragonfly of equal
 * groups. */
int cpl_groups_reach(const struct cpl_linked_groups *g, int router, int own,
                     int other);

#define CPL_GROUPS_INSIDE 2
/* Lists the links of one of those paths, the one at position x in 0 .. 1 of
 * all. Returns their number. O(1). */
int cpl_groups_path(const struct cpl_linked_groups *g, int from, int to,
                    double x, int link[CPL_GROUPS_INSIDE]);
