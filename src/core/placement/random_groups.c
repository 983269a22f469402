/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement_internal.h"

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	int size = net->dragonfly.routers_per_group * net->nodes_per_router;

	return cpl_placement_random_units(req, size, 4, out, err);
}

const struct cpl_placement_policy cpl_placement_random_groups = {
        .name = "random-groups",
        .short_name = "RDG",
        .types = CPL_TYPE_DRAGONFLY,
        .random = true,
        .summary = "groups in random order, wholly free ones first",
        .place = place,
};
