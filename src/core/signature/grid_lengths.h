/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This lists the grids of a number of ranks: all lengths of so many axes with that
 * product, one after the other. */
#pragma once

#include <stdbool.h>

#include "signature/rescale.h"

struct grid_lengths {
	int ranks, n_axes, least;
	int length[RESCALE_DIMS]; /* 1 from n_axes on */
	int *divisor;             /* divisors of ranks, increasing */
	int n_divisors;
};

/* This returns -1 when memory is out; otherwise the caller frees it. It costs
 * O(sqrt(ranks)). */
int grid_lengths_init(struct grid_lengths *l, int ranks);
void grid_lengths_free(struct grid_lengths *l);

/* These give the first lengths of so many axes, then the next ones, with the first
 * axes falling slowest; they return false when there are none left. Each length is
 * at least `least`, 1 or 2, unless the axis is the only one. Lengths of 1 come only
 * behind all others. Each call costs O(divisors). */
bool grid_lengths_first(struct grid_lengths *l, int n_axes, int least);
bool grid_lengths_next(struct grid_lengths *l);

/* This counts the grids whose lengths are all 2 or more, but no further than
 * `most`. */
double grid_lengths_count(struct grid_lengths *l, int n_axes, double most);
