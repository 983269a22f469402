/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement_internal.h"

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	int size = net->dragonfly.columns * net->nodes_per_router;

	return cpl_placement_random_units(req, size, 3, out, err);
}

const struct cpl_placement_policy cpl_placement_random_chassis = {
        .name = "random-chassis",
        .short_name = "RDC",
        .types = CPL_TYPE_DRAGONFLY,
        .random = true,
        .summary = "chassis in random order, wholly free ones first",
        .place = place,
};
