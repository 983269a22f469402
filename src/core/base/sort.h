/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders of plain numbers, for qsort and bsearch. O(1). */
#pragma once

/* Ascending ints. */
static inline int cpl_by_int(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) -
	       (*(const int *)a < *(const int *)b);
}

/* Ascending doubles, none of them NaN. */
static inline int cpl_by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Descending ones. */
static inline int cpl_by_double_down(const void *a, const void *b)
{
	return cpl_by_double(b, a);
}
