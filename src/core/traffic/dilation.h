/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far apart ranks are that talk. */
#pragma once

#include "traffic/workload.h"

/*
 * Links on the path (routing->hops: where the routing solves, the shortest
 * one), over all ordered pairs of ranks of which the first sends the second
 * bytes; pairs of one router count 0 (Jain 2016, 2.4 and 4.1).
 */
struct cpl_dilation {
	double average;
	double above_average; /* mean of those above the average, or 0 */
	int64_t pairs, pairs_above;
};

/*
 * Of n jobs together, by their rows; hosts by ranks_per_node. threads as in a
 * workload. 0, or -1 with err (memory). O(messages * log of those of a rank).
 */
int cpl_dilation(const struct cpl_network *net,
                 const struct cpl_routing *routing, const struct cpl_job *job,
                 int n, int threads, struct cpl_dilation *out,
                 struct cpl_error *err);
