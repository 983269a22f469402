/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement_internal.h"

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	return cpl_placement_random_units(req, 1, 1, out, err);
}

const struct cpl_placement_policy cpl_placement_random_nodes = {
        .name = "random-nodes",
        .short_name = "RDN",
        .types = CPL_TYPE_ANY,
        .random = true,
        .summary = "free nodes in random order",
        .place = place,
};
