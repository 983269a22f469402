/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shortest paths inside a dragonfly's group of all-to-all rows and columns. */
#pragma once

#include "network/dragonfly/group.h"

/* The most links of such paths: two over each of two corners. */
#define CPL_LOCAL_LINKS 4
/* The most links of the paths over one link between two groups. */
#define CPL_GROUP_LINKS (2 * CPL_LOCAL_LINKS + 1)

/* Lists the links of the shortest paths from one row and column to another,
 * each with its share of `part`, evenly over paths. Returns their number.
 * O(1). */
static inline int cpl_local_links(const struct cpl_local_group *g, int from_row,
                                  int from_column, int to_row, int to_column,
                                  double part, struct cpl_share *share)
{
	bool turns = from_row != to_row && from_column != to_column;
	int n = 0;

	if (turns)
		part /= 2;
	if (from_column != to_column)
		share[n++] = (struct cpl_share){
		        (int)cpl_local_row(g, from_row, from_column, to_column),
		        part};
	if (turns)
		share[n++] = (struct cpl_share){
		        (int)cpl_local_column(g, from_row, to_column, to_row),
		        part};
	if (from_row != to_row)
		share[n++] = (struct cpl_share){
		        (int)cpl_local_column(g, from_row, from_column, to_row),
		        part};
	if (turns)
		share[n++] = (struct cpl_share){
		        (int)cpl_local_row(g, to_row, from_column, to_column),
		        part};
	return n;
}
