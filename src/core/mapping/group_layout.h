/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes and rank order for a job whose communication groups are known. Groups are
 * kept whole, in the order of cpl_rank_grid_axes: on a node first, then inside the
 * smallest units of the network that have room for several nodes of the job, as
 * long as there is enough such room. What is left is a grid, pipeline stages by data
 * parallel indices, which is laid on the units of each level from the coarsest on
 * by cell_spread.h, where groups weigh by their bytes.
 */
#pragma once

#include "graph/rank_grid.h"
#include "network/network.h"

struct cpl_group_layout {
	const struct cpl_network *net;
	const struct cpl_rank_grid *grid;
	const struct cpl_comm *comm; /* NULL: all groups weigh the same */
	int n_hosts;
	const int *host; /* [n_hosts] nodes; there may be more than the ranks
	                  * need */
	int per_host;    /* ranks of each host */
};

/*
 * Sets rank_host[grid->ranks] to indices into host[], per_host ranks each but for
 * the last one. Hosts that the ranks do not need are left out. Ties go to the
 * lowest node. Returns 0, or -1 with err (too few hosts; memory), in O(ranks +
 * entries) and the time of cell_spread.h.
 */
int cpl_group_layout(const struct cpl_group_layout *how, int *rank_host,
                     struct cpl_error *err);
