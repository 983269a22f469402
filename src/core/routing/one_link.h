/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonflies with one link per pair of groups: a way to another group is
 * known from the groups alone, so that sums over all routers have closed forms.
 */
#ifndef CPL_ROUTING_ONE_LINK_H
#define CPL_ROUTING_ONE_LINK_H

#include "network/dragonfly/dragonfly.h"

/*
 * hops[router]: links of its direct ways to all others together, which is also
 * the sum of the ways back. scratch[routers per group]. O(groups^2 + routers *
 * routers per group).
 */
void cpl_one_link_hops(const struct cpl_network *net, double *scratch,
                       double *hops);

/* Numbers of scratch of cpl_one_link_legs. */
static inline size_t cpl_one_link_scratch(const struct cpl_network *net)
{
	size_t size = (size_t)cpl_dragonfly_of(net)->routers_per_group;

	return size * (size + 3);
}

/*
 * Every router r of the machine sends sent[r] bytes to each other router and
 * gets received[r] from each, directly; sent_by[], received_by[] are the sums
 * over each group's routers. Adds the bytes of the links that start in `group`
 * to load[]. O(groups + routers per group^2).
 */
void cpl_one_link_legs(const struct cpl_network *net, int group,
                       const double *sent, const double *received,
                       const double *sent_by, const double *received_by,
                       double *scratch, double *load);

/*
 * Adds local[a * routers per group + b], the bytes from the group's router a
 * to its router b, to load[], evenly over the shortest ways. The diagonal is
 * not read. O(routers per group^2).
 */
void cpl_local_spread(const struct cpl_network *net, int group,
                      const double *local, double *load);

#endif
