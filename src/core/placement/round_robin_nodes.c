/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement_internal.h"

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	const struct cpl_network *net = req->net;

	return cpl_placement_round_robin(req, &net->level[net->turns], NULL,
	                                 out, err);
}

const struct cpl_placement_policy cpl_placement_round_robin_nodes = {
        .name = "round-robin-nodes",
        .short_name = "RRN",
        .summary = "consecutive nodes from consecutive groups (planes, boards, "
                   "leaf switches)",
        .place = place,
};
