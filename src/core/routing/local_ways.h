/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways inside a group of a dragonfly, whose rows and columns are all-to-all. */
#ifndef CPL_ROUTING_LOCAL_WAYS_H
#define CPL_ROUTING_LOCAL_WAYS_H

#include "network/network.h"

/* Links of such ways, over both corners where there are two. */
#define CPL_LOCAL_WAYS 4

/* A group: ids of its first row link and of its first column link. */
struct cpl_local_group {
	int64_t row, column;
	int rows, columns;
};

/*
 * Evenly over the shortest ways from one row and column to another, as a list of
 * links with their parts of `part`; how many. O(1).
 */
static inline int cpl_local_ways(const struct cpl_local_group *g, int from_row,
                                 int from_column, int to_row, int to_column,
                                 double part, struct cpl_share *share)
{
	/* Of the four corners, by row and column, the first links. */
	int64_t near = (int64_t)from_row * g->columns;
	int64_t far = (int64_t)to_row * g->columns;
	int across = to_column - (to_column > from_column);
	int along = to_row - (to_row > from_row), n = 0;
	bool turns = from_row != to_row && from_column != to_column;

	if (turns)
		part /= 2;
	if (from_column != to_column)
		share[n++] = (struct cpl_share){
		        (int)(g->row + (near + from_column) * (g->columns - 1) +
		              across),
		        part};
	if (turns)
		share[n++] = (struct cpl_share){
		        (int)(g->column + (near + to_column) * (g->rows - 1) +
		              along),
		        part};
	if (from_row != to_row)
		share[n++] = (struct cpl_share){
		        (int)(g->column +
		              (near + from_column) * (g->rows - 1) + along),
		        part};
	if (turns)
		share[n++] = (struct cpl_share){
		        (int)(g->row + (far + from_column) * (g->columns - 1) +
		              across),
		        part};
	return n;
}

#endif
