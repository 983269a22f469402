/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A grid of cells, such as the nodes of a training job by pipeline stage and data
 * parallel index, is laid on units with room for some cells each, such as leaf
 * switches, so that rows and columns spread over few of them: the measure of
 * Arnold (He and others, NeurIPS 2025, arXiv 2509.15940), which weighs the largest
 * spread of a row and that of a column.
 */
#pragma once

#include "base/error.h"

enum { CPL_ROWS, CPL_COLUMNS };

struct cpl_cell_spread {
	int rows, columns;
	int n_units;
	const int *room;  /* [n_units] cells, 0 or more */
	double weight[2]; /* of the largest spread of rows and of columns */
};

/* What a layout comes to. */
struct cpl_cell_spreads {
	int most[2];
	double mean[2];
	double cost; /* the weighted sum of most */
};

/*
 * Lays the cells in strips of rows, or of columns, each filled line by line: with
 * whole lines on a unit, or to the last cell of it. All numbers of strips that may
 * be best are tried. unit[row * columns + column] becomes an index into room[].
 * Returns 0, or -1 with err (less room than cells; memory), in O(strips * (cells +
 * units * strips)).
 */
int cpl_cell_spread_solve(const struct cpl_cell_spread *how, int *unit,
                          struct cpl_cell_spreads *out, struct cpl_error *err);
