/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"
#include "placement/placement_internal.h"

static bool takes(const struct cpl_network_type *type)
{
	return cpl_network_type_has(type, "router");
}

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	return cpl_placement_random_units(req,
	                                  cpl_network_level(req->net, "router"),
	                                  CPL_STREAM_RANDOM_ROUTERS, out, err);
}

const struct cpl_placement_policy cpl_placement_random_routers = {
        .name = "random-routers",
        .short_name = "RDR",
        .summary = "routers in random order, wholly free ones first",
        .flags = CPL_PLACEMENT_RANDOM,
        .takes = takes,
        .place = place,
};
