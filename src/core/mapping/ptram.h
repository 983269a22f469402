/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ptram and its refinement share (Mirsadeghi, Afsahi: PTRAM). */
#ifndef CPL_MAPPING_PTRAM_H
#define CPL_MAPPING_PTRAM_H

#include "mapping/link_sums.h"
#include "mapping/clusters.h"

/* Swaps of the paper's refinement at the most. */
#define CPL_PTRAM_SWAPS 10

/* Algorithm 1. A whole layout unless the budget ends it. 0, or -1 with err.
 * O(n^2 * degree * route). */
int cpl_ptram_assign(struct cpl_clusters *clusters, int *target_of,
                     struct cpl_error *err);

/*
 * Algorithm 2 on a whole layout, k = 7 nearest targets: swaps that lower the
 * largest congestion, each the best of its pass. By the paper's listing only
 * clusters that send over the most loaded link are moved; with `receivers`, as
 * its text has it, whoever communicates over it. Returns the number of swaps,
 * or -1 with err. O(n * routes + tried swaps * degree * route) a swap.
 */
int cpl_ptram_refine(struct cpl_clusters *clusters, int *target_of,
                     int max_swaps, bool receivers, struct cpl_error *err);

#endif
