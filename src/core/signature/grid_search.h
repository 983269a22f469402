/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which grid of ranks explains the traffic of a matrix best. */
#ifndef CPL_SIGNATURE_GRID_SEARCH_H
#define CPL_SIGNATURE_GRID_SEARCH_H

#include "signature/grid_model.h"

struct grid_search {
	struct grid_model *model; /* scratch, for others too */
	struct grid_sums sums;
	double *near; /* [ranks] zeros */
	double steps; /* of RESCALE_MAX_STEPS */
	int axes;     /* all grids of so many were tried */
};

/* Initialise for matrices of so many ranks; free it in either case. -1 with
 * err: memory. */
int grid_search_init(struct grid_search *x, int ranks, struct cpl_error *err);
void grid_search_free(struct grid_search *x);

/*
 * The grid with the smallest error, to which each axis shorter than
 * RESCALE_MIN_AXIS among others adds 0.02; of equals the one with fewest axes,
 * then the first. best->n_dims is 0 where there is no traffic. 0, or -1 with
 * err: memory. See cpl_signature_rescale for what it costs.
 */
int grid_search_find(struct grid_search *x, const struct cpl_comm *comm,
                     struct grid *best, struct cpl_error *err);

#endif
