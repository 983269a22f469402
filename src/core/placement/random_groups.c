/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"
#include "placement/placement_internal.h"

static bool takes(const struct cpl_network_type *type)
{
	return cpl_network_type_has(type, "group");
}

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	return cpl_placement_random_units(req,
	                                  cpl_network_level(req->net, "group"),
	                                  CPL_STREAM_RANDOM_GROUPS, out, err);
}

const struct cpl_placement_policy cpl_placement_random_groups = {
        .name = "random-groups",
        .short_name = "RDG",
        .summary = "groups in random order, wholly free ones first",
        .flags = CPL_PLACEMENT_RANDOM,
        .takes = takes,
        .place = place,
};
