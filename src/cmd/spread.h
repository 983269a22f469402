/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Over how many units of the network a job's communication groups spread. */
#pragma once

#include <jansson.h>

#include "placement/decide.h"

struct spread {
	struct cpl_rank_grid grid; /* n 0: groups are not known */
	struct cpl_rank_spread of[CPL_RANK_GRID_DIMS][CPL_NETWORK_MAX_LEVELS];
};

/* Of grid, each of whose ranks is on node[rank_host[rank]], or in blocks of
 * ranks_per_node on node[] (rank_host NULL). 0, or -1 with err (memory). O(ranks *
 * dimensions * levels). */
int spread_measure(const struct cpl_network *net,
                   const struct cpl_rank_grid *grid, const int *node,
                   const int *rank_host, int ranks_per_node, struct spread *out,
                   struct cpl_error *err);

/*
 * An array with an object for each dimension that is longer than 1: "dimension",
 * "length", "groups", and "units", with "unit" (a level without a name has its
 * number, as in placement/cut.h), "most" and "mean" for each level of the network.
 * NULL: memory.
 */
json_t *spread_json(const struct cpl_network *net, const struct spread *spread);

/* Of a decision; NULL where groups are not known, too. */
json_t *spread_of(const struct cpl_placement_request *place,
                  const struct cpl_decision *decision);
