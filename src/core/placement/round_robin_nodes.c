/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement_internal.h"

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	int room = net->n_nodes;

	/* Torus: the last dimension is the slowest, so its planes are runs of
	 * node ids. */
	if (net->type == CPL_NETWORK_DRAGONFLY)
		room /= net->dragonfly.groups;
	else if (net->type == CPL_NETWORK_HAEC)
		room /= net->haec.boards;
	else if (net->type != CPL_NETWORK_TORUS)
		room = net->nodes_per_router;
	else
		room /= net->torus.dim[net->torus.n_dims - 1];
	return cpl_placement_round_robin(req, room, 1, out, err);
}

const struct cpl_placement_policy cpl_placement_round_robin_nodes = {
        .name = "round-robin-nodes",
        .short_name = "RRN",
        .types = CPL_TYPE_ANY,
        .summary = "consecutive nodes from consecutive groups (planes, boards, "
		   "leaf switches)",
        .place = place,
};
