/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This finds the grid of ranks that explains the traffic of a matrix best. */
#pragma once

#include "signature/grid_model.h"

struct grid_search {
	struct grid_model *model; /* scratch, also used by others */
	struct grid_sums sums;
	double *near; /* [ranks] zeros */
	double steps; /* taken, out of RESCALE_MAX_STEPS */
	int axes;     /* all grids of so many axes were tried */
};

/* This prepares for matrices of so many ranks; the caller frees it in either case.
 * It returns -1 with err when memory is out. */
int grid_search_init(struct grid_search *x, int ranks, struct cpl_error *err);
void grid_search_free(struct grid_search *x);

/* This finds the grid with the smallest error, where each axis shorter than
 * RESCALE_MIN_AXIS beside others adds 0.02. Of equals, the one with the fewest axes
 * wins, then the first. best->n_dims is 0 where there is no traffic. It returns 0,
 * or -1 with err when memory is out. cpl_signature_rescale states the cost. */
int grid_search_find(struct grid_search *x, const struct cpl_comm *comm,
                     struct grid *best, struct cpl_error *err);
