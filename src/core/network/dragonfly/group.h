/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links inside a group of a dragonfly: routers of a row are all-to-all, those of
 * a column too. They are numbered row by row, and so are the links that leave
 * them: first to the lower columns, or rows.
 */
#pragma once

#include "network/network.h"

/* A group: ids of its first row link and of its first column link. */
struct cpl_local_group {
	int64_t row, column;
	int rows, columns;
};

/* Link from the router of that row and column to another column of the row. */
static inline int64_t cpl_local_row(const struct cpl_local_group *g, int row,
                                    int column, int to)
{
	return g->row +
	       ((int64_t)row * g->columns + column) * (g->columns - 1) + to -
	       (to > column);
}

/* The same to another row of the column. */
static inline int64_t cpl_local_column(const struct cpl_local_group *g, int row,
                                       int column, int to)
{
	return g->column +
	       ((int64_t)row * g->columns + column) * (g->rows - 1) + to -
	       (to > row);
}

/* The ends of the group's links; `first`: its first router. O(links). */
void cpl_local_link(struct cpl_network *net, const struct cpl_local_group *g,
                    int first);
