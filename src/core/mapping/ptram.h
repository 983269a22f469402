/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that ptram and its refinement share (Mirsadeghi, Afsahi: PTRAM). */
#pragma once

#include "mapping/link_sums.h"
#include "mapping/clusters.h"

/* The paper's refinement makes at most this many swaps. */
#define CPL_PTRAM_SWAPS 10

/* The paper's algorithm 1; the layout is whole unless the budget ends it.
 * Returns 0, or -1 with err, in O(n^2 * degree * route). */
int cpl_ptram_assign(struct cpl_clusters *clusters, int *target_of,
                     struct cpl_error *err);

/* The paper's algorithm 2 on a whole layout, with the k = 7 nearest targets:
 * swaps that lower the largest congestion, each the best of its pass. By the
 * paper's listing only clusters that send over the most loaded link are moved;
 * with `receivers`, as its text has it, all that communicate over it. Returns
 * the number of swaps, or -1 with err, in O(n * routes + tried swaps * degree *
 * route) for each swap. */
int cpl_ptram_refine(struct cpl_clusters *clusters, int *target_of,
                     int max_swaps, bool receivers, struct cpl_error *err);
