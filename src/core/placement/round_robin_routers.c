/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement_internal.h"

static bool takes(const struct cpl_network_type *type)
{
	return cpl_network_type_has(type, "group") &&
	       cpl_network_type_has(type, "router");
}

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	return cpl_placement_round_robin(
	        req, cpl_network_level(req->net, "group"),
	        cpl_network_level(req->net, "router"), out, err);
}

const struct cpl_placement_policy cpl_placement_round_robin_routers = {
        .name = "round-robin-routers",
        .short_name = "RRR",
        .summary = "consecutive routers from consecutive groups",
        .takes = takes,
        .place = place,
};
