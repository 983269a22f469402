/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks that share a host: boxes of the grid that they are numbered along. */
#ifndef CPL_MAPPING_RANK_BOXES_H
#define CPL_MAPPING_RANK_BOXES_H

#include <stdbool.h>

#include "graph/comm.h"

/* What groups send each other. */
struct cpl_group_cut {
	double most; /* what one group sends or gets, whichever is more */
	double all;  /* what all send */
};

/* Of n groups of[ranks]; sums: [2 * n]. O(entries + n). */
struct cpl_group_cut cpl_group_cut(const struct cpl_comm *comm, const int *of,
                                   int n, double *sums);
/* Is the maximum of a less than that of b, or equal and the sum of a less? */
bool cpl_group_cut_better(const struct cpl_group_cut *a,
                          const struct cpl_group_cut *b);

/*
 * Groups of size[n] ranks into of[ranks]. A grid whose ranks are numbered with
 * one dimension faster than the other sends over few distances between rank
 * numbers, which divide each other: they say how long its dimensions are. Boxes
 * as large as the first group are cut from it, those of a few shapes that by
 * their surface send least; where they do not fill the dimensions, or groups
 * differ, ranks in the order of boxes are given out in turn. 1 with the cut of
 * the best; 0 where there is no such distance, or too much traffic to be looked
 * at so often; or -1 with err (memory). graph: both ways. O(entries + shapes of
 * a box).
 */
int cpl_rank_boxes(const struct cpl_comm *comm, const struct cpl_comm *graph,
                   const int *size, int n, int *of, struct cpl_group_cut *cut,
                   struct cpl_error *err);

/*
 * Groups of size[n] ranks into of[ranks], column after column: ranks are rows of
 * the smallest length beyond which they send to their columns only, all but a
 * twentieth of the traffic. 1; 0 where there is no such length; or -1 with err
 * (memory). graph: both ways. O(entries + divisors of ranks * ranks).
 */
int cpl_rank_columns(const struct cpl_comm *graph, const int *size, int n,
                     int *of, struct cpl_error *err);

#endif
