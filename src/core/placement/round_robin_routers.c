/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement_internal.h"

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	int group = net->dragonfly.routers_per_group * net->nodes_per_router;

	return cpl_placement_round_robin(req, group, net->nodes_per_router, out,
	                                 err);
}

const struct cpl_placement_policy cpl_placement_round_robin_routers = {
        .name = "round-robin-routers",
        .short_name = "RRR",
        .types = CPL_TYPE_DRAGONFLY,
        .summary = "consecutive routers from consecutive groups",
        .place = place,
};
