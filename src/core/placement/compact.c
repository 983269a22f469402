/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/unit_sets.h"

static int place_compact(const struct cpl_placement_request *req, int *out,
                         struct cpl_error *err)
{
	return cpl_units_compact(req->net, req->free, req->n_nodes_wanted, out,
	                         err) ||
	                       cpl_placement_require(req, out, err)
	               ? -1
	               : 0;
}

const struct cpl_placement_policy cpl_placement_compact = {
        .name = "compact",
        .summary = "in as few units (routers, chassis, groups, boxes) as "
                   "possible",
        .flags = CPL_PLACEMENT_CLASS,
        .place = place_compact,
};
