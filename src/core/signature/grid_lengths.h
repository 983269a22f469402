/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grids of a number of ranks: all lengths of so many axes with that product,
 * one after the other. */
#ifndef CPL_SIGNATURE_GRID_LENGTHS_H
#define CPL_SIGNATURE_GRID_LENGTHS_H

#include <stdbool.h>

#include "signature/rescale.h"

struct grid_lengths {
	int ranks, n_axes, least;
	int length[RESCALE_DIMS]; /* 1 behind n_axes */
	int *divisor;             /* of ranks, increasing */
	int n_divisors;
};

/* -1: memory; else free it. O(sqrt(ranks)). */
int grid_lengths_init(struct grid_lengths *l, int ranks);
void grid_lengths_free(struct grid_lengths *l);

/*
 * The first lengths of so many axes, then the next ones, those of the first axes
 * falling slowest; false: there are none, or no more. Each length but that of an
 * axis alone is at least `least`, 1 or 2; of those with a length of 1 only the
 * ones with all these behind the others. O(divisors) each.
 */
bool grid_lengths_first(struct grid_lengths *l, int n_axes, int least);
bool grid_lengths_next(struct grid_lengths *l);

/* How many there are with lengths of 2 and more, counted up to `most`. */
double grid_lengths_count(struct grid_lengths *l, int n_axes, double most);

#endif
