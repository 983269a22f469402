/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks that share a host: boxes of the grid that they are numbered along. */
#pragma once

#include <stdbool.h>

#include "graph/comm.h"

/* The traffic between groups. */
struct cpl_group_cut {
	double most; /* the most that one group sends or gets */
	double all;  /* what all send */
};

/* The traffic between n groups of[ranks]; sums has [2 * n]. O(entries + n). */
struct cpl_group_cut cpl_group_cut(const struct cpl_comm *comm, const int *of,
                                   int n, double *sums);
/* Whether a has the smaller maximum, or the same and the smaller sum. */
bool cpl_group_cut_better(const struct cpl_group_cut *a,
                          const struct cpl_group_cut *b);

/*
 * Cuts ranks into groups of size[n], into of[ranks]. A grid whose ranks are
 * numbered with one dimension faster than the other sends over few distances
 * between rank numbers, which divide each other and so tell how long its
 * dimensions are. Boxes as large as the first group are cut from it, in those
 * few shapes that send least by their surface; where they do not fill the
 * dimensions, or groups differ in size, ranks are given out in the order of
 * boxes. Returns 1 with the cut of the best; 0 where there are no such
 * distances or too much traffic to look at so often; or -1 with err (memory).
 * graph has both directions. O(entries + shapes of a box).
 */
int cpl_rank_boxes(const struct cpl_comm *comm, const struct cpl_comm *graph,
                   const int *size, int n, int *of, struct cpl_group_cut *cut,
                   struct cpl_error *err);

/* Cuts ranks into groups of size[n], into of[ranks], column after column. Ranks
 * are taken as rows of the smallest length beyond which they send only to their
 * columns, except a twentieth of the traffic. Returns 1; 0 where there is no
 * such length; or -1 with err (memory). graph has both directions. O(entries +
 * divisors of ranks * ranks). */
int cpl_rank_columns(const struct cpl_comm *graph, const int *size, int n,
                     int *of, struct cpl_error *err);
