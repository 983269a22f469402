/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progressive-adaptive: how switches of a dragonfly and a dragonfly+ adapt
 *(UGAL of Kim et al. 2008, "Technology-driven, highly-scalable dragonfly
 *topology"; progressive: Jiang, Kim, Dally 2009, "Indirect adaptive routing on
 *large scale interconnection networks"), for one or several jobs at once.
 *
 * A flow takes its minimal paths (static-direct, ecmp) as long as their links
 * between groups are not loaded; what is diverted from such a link goes over
 * another group, each of the groups - 2 others alike, over all of the K links
 * there and all K on from there alike, by shortest paths inside groups (Valiant
 * over groups). Traffic inside a group stays there.
 *
 * Switches compare what waits on either way: a detour is taken while
 *
 *	bytes on the minimal link > weight * mean + threshold
 *
 * with the mean over all links of the detours, bytes of others among them.
 * Weight 2 is the paths' lengths, two links between groups against one.
 * threshold, in bytes, is what a queue holds that leaves packets on their way.
 * The file states both ("adaptive"). In the equilibrium every link that keeps
 * some of its bytes has no more than that, every link of which some are
 * diverted no less. With weight 2 the links between groups have the same bytes
 * in all equilibria, those that make the sum of squares of all of them, with
 * twice the threshold for each diverted byte, the least.
 *
 * Hence: no link above threshold: minimal routing; one group sends to one other
 * far more than the threshold: each of the others gets 1/groups of it, the
 * minimal way 2/groups, which is what Valiant's random group, own and
 * destination among them, comes to.
 *
 * A flow's bytes are diverted as the links of its minimal paths divert.
 */
#ifndef CPL_ROUTING_PROGRESSIVE_H
#define CPL_ROUTING_PROGRESSIVE_H

#include "routing/routing.h"

struct cpl_progressive_job {
	const struct cpl_flows *flows;
	struct cpl_routed routed; /* out */
};

/*
 * Solve: the jobs' bytes are added to load[link id], what is there already
 * being others'. 0, or -1 with err (memory). The same bits for the same input.
 * O(flows * paths + pairs of a router and a group with flows * K, numbers that
 * are kept + sweeps * links between groups that flows take + links between
 * groups; where there are detours, routers that send or get over them * groups
 * * K + groups * (gateways of a group^2 + pairs of groups with detours * K^2));
 * sweeps are some tens.
 */
int cpl_progressive_solve(const struct cpl_network *net,
                          struct cpl_progressive_job *job, int n, double *load,
                          struct cpl_error *err);

static inline bool cpl_routing_is_progressive(const struct cpl_routing *routing)
{
	return routing->flags & CPL_ROUTING_PROGRESSIVE;
}

#endif
