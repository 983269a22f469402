/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The communication groups of a job whose ranks are numbered along a grid: the
 * ranks that differ in one coordinate alone are a group of that dimension. A
 * dimension may be part of another one, as experts are spread inside the data
 * parallel ranks.
 */
#pragma once

#include <stdbool.h>

#include "graph/comm.h"

#define CPL_RANK_GRID_DIMS 8

/* A rank's coordinate is rank / stride % length. */
struct cpl_rank_dim {
	const char *name; /* "tp", "dp", ..., lasts */
	int stride, length;
};

struct cpl_rank_grid {
	int ranks, n;
	struct cpl_rank_dim dim[CPL_RANK_GRID_DIMS];
};

/* Is it one of ranks ranks, each dimension of which is a range of one order of
 * axes? O(dimensions^2). */
bool cpl_rank_grid_is_sound(const struct cpl_rank_grid *grid, int ranks);

/* The grid of tasks that are so many consecutive ranks each; groups inside a task
 * are left out. False: a dimension is cut by tasks, or none is left. */
bool cpl_rank_grid_contract(const struct cpl_rank_grid *grid, int ranks_each,
                            struct cpl_rank_grid *out);

/* A coordinate, and the first rank of a rank's group. */
static inline int cpl_rank_coordinate(const struct cpl_rank_dim *dim, int rank)
{
	return rank / dim->stride % dim->length;
}

static inline int cpl_rank_group(const struct cpl_rank_dim *dim, int rank)
{
	return rank - cpl_rank_coordinate(dim, rank) * dim->stride;
}

/* The axes that the dimensions cut the ranks into, the fastest to be first. An
 * axis belongs to the first dimension that has it, in the order in which groups
 * are to be kept together: tp, cp, ep, dp, others, pp. */
struct cpl_rank_axis {
	int dim; /* index into grid->dim, -1: of none */
	int stride, length;
};

#define CPL_RANK_GRID_AXES (2 * CPL_RANK_GRID_DIMS + 1)
/* Lists those that are longer than 1 into axis[CPL_RANK_GRID_AXES], innermost
 * first, and returns how many. O(dimensions^2). */
int cpl_rank_grid_axes(const struct cpl_rank_grid *grid,
                       struct cpl_rank_axis *axis);
/* Is that the dimension by stages, whose groups are kept together last? */
bool cpl_rank_dim_is_last(const struct cpl_rank_dim *dim);

/* Adds the bytes of each entry between ranks to the smallest dimension whose
 * group has both: bytes[dim]. O(entries * dimensions). */
void cpl_rank_grid_bytes(const struct cpl_rank_grid *grid,
                         const struct cpl_comm *comm, double *bytes);

/* Over how many units the groups of a dimension spread. */
struct cpl_rank_spread {
	int groups, most;
	double mean;
};

/* unit[ranks] is the unit, below n_units, of each rank. Returns 0, or -1 with err
 * (memory), in O(ranks + n_units). */
int cpl_rank_grid_spread(const struct cpl_rank_grid *grid, int dim,
                         const int *unit, int n_units,
                         struct cpl_rank_spread *out, struct cpl_error *err);
