/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progressive-adaptive models how switches of a dragonfly and a dragonfly+
 * adapt (UGAL of Kim et al. 2008, "Technology-driven, highly-scalable dragonfly
 * topology"; progressive: Jiang, Kim, Dally 2009, "Indirect adaptive routing on
 * large scale interconnection networks"), for one or several jobs at once.
 *
 * A flow takes its minimal paths (static-direct, ecmp) as long as their links
 * between groups are not loaded. Bytes diverted from such a link go over
 * another group: evenly over each of the groups - 2 others, over all of the K
 * links there and all K on from there, by shortest paths inside groups (Valiant
 * over groups). Traffic inside a group stays there.
 *
 * Switches compare what waits on either path. A detour is taken while
 *
 * 	bytes on the minimal link > weight * mean + threshold
 *
 * with the mean over all links of the detours, bytes of others among them.
 * Weight 2 stands for the lengths of the paths, two links between groups
 * against one. The threshold is the bytes that a queue holds while packets
 * still keep to their path. The file states both ("adaptive"). In the
 * equilibrium every link that keeps some of its bytes has no more than that
 * sum, and every link that diverts some has no less. With weight 2 the links
 * between groups have the same bytes in all equilibria: those that minimise the
 * sum of squares of all of them plus twice the threshold for each diverted
 * byte.
 *
 * So with no link above the threshold routing is minimal. Where one group sends
 * far more than the threshold to one other group, each of the others gets
 * 1/groups of it and the minimal path 2/groups. Valiant's random group leads to
 * the same, since source and destination are among the groups it draws.
 *
 * A flow's bytes are diverted in the proportions of the links of its minimal
 * paths.
 */
#pragma once

#include "routing/routing.h"

/*
 * Adds the jobs' bytes to load[link id]; what is there already belongs to
 * others. Returns 0, or -1 with err (memory). The same input yields the same
 * bits. The cost is O(flows * paths + pairs of a router and a group with flows
 * * K, which are also the numbers kept, + sweeps * links between groups that
 * flows take + links between groups); detours add routers that send or get over
 * them * groups * K + groups * (gateways of a group^2 + pairs of groups with
 * detours * K^2). There are some tens of sweeps.
 */
int cpl_progressive_solve(const struct cpl_network *net,
                          struct cpl_adaptive_job *job, int n, double *load,
                          struct cpl_error *err);

static inline bool cpl_routing_is_progressive(const struct cpl_routing *routing)
{
	return routing->flags & CPL_ROUTING_PROGRESSIVE;
}
