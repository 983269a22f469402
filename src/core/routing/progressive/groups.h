/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A dragonfly or a dragonfly+ as groups with K links between each two. */
#ifndef CPL_ROUTING_GROUPS_H
#define CPL_ROUTING_GROUPS_H

#include "network/dragonfly/wiring.h"

struct cpl_linked_groups {
	const struct cpl_network *net;
	int n, links; /* K */
	int members;  /* routers of the largest */
	int64_t first;      /* link id of number 0 */
	const int *gateway; /* [n * (n - 1) * K] router at the near end */
};

/* Of such a network only, whose arrays it shows. O(groups). */
struct cpl_linked_groups cpl_groups_of(const struct cpl_network *net);

/* Number of two groups, of their links the first; a is not b. */
static inline int64_t cpl_groups_pair(const struct cpl_linked_groups *g, int a,
                                      int b)
{
	return cpl_wires_pair(g->n, a, b);
}

/* Router in group a of link k to b. */
static inline int cpl_groups_gateway(const struct cpl_linked_groups *g, int a,
                                     int b, int k)
{
	return g->gateway[cpl_groups_pair(g, a, b) * g->links + k];
}

/* Of any router. O(1); of a dragonfly+'s spine O(log groups). */
int cpl_groups_group(const struct cpl_linked_groups *g, int router);
/* How many routers a group has, the place of one among them, and the router at
 * a place. O(1). */
int cpl_groups_members(const struct cpl_linked_groups *g, int group);
int cpl_groups_index(const struct cpl_linked_groups *g, int group, int router);
int cpl_groups_router(const struct cpl_linked_groups *g, int group, int place);

/* Add bytes to load (NULL: do not), evenly over the shortest paths inside a
 * group, of which one router is a gateway; how many links such a way has. O(1);
 * between two spines of a dragonfly+ O(leaves). */
int cpl_groups_inside(const struct cpl_linked_groups *g, int from, int to,
                      double bytes, double *load);

/* Links from a router of group `own` to the gateways to another group, of all K
 * together; none to its own. O(K), or O(1) on a dragonfly of groups alike with
 * up to 64. */
int cpl_groups_reach(const struct cpl_linked_groups *g, int router, int own,
                     int other);

#define CPL_GROUPS_INSIDE 2
/* The links of one of those paths: that at the part x, in 0 to 1, of them all.
 * How many. O(1). */
int cpl_groups_path(const struct cpl_linked_groups *g, int from, int to,
                    double x, int link[CPL_GROUPS_INSIDE]);

#endif
