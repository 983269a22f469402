/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement_internal.h"

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	return cpl_placement_random_units(req, req->net->nodes_per_router, 2,
	                                  out, err);
}

const struct cpl_placement_policy cpl_placement_random_routers = {
        .name = "random-routers",
        .short_name = "RDR",
        .types = CPL_TYPE_DRAGONFLY | CPL_TYPE_SWITCHED,
        .random = true,
        .summary = "routers in random order, wholly free ones first",
        .place = place,
};
