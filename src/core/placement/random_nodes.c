/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"
#include "placement/placement_internal.h"

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	return cpl_placement_random_units(req, NULL, CPL_STREAM_RANDOM_NODES,
	                                  out, err);
}

const struct cpl_placement_policy cpl_placement_random_nodes = {
        .name = "random-nodes",
        .short_name = "RDN",
        .summary = "free nodes in random order",
        .flags = CPL_PLACEMENT_RANDOM,
        .place = place,
};
