/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders for qsort and bsearch, of plain numbers and of structs by keys. No number
 * is NaN. O(keys). */
#pragma once

#include <stdint.h>
#include <string.h>

/* This defines int NAME(const void *, const void *) of two of a type, x and y, by
 * keys, each of which decides where all before it are equal. So edges of many bytes
 * come first, and of equal ones those from lower ranks:
 *	static CPL_SORT_BY(heavier, struct edge, CPL_DOWN(bytes), CPL_UP(from)) */
#define CPL_SORT_BY(name, type, ...)                 \
	int name(const void *one, const void *other) \
	{                                            \
		type const *x = one;                 \
		type const *y = other;               \
		int order = 0;                       \
                                                     \
		__VA_ARGS__;                         \
		return order;                        \
	}

/* A key: a field that ascends, descends or is text, a number that x has and one
 * that y has, or an order of the two such as strcmp's. */
#define CPL_UP(field) CPL_KEY(x->field, y->field)
#define CPL_DOWN(field) CPL_KEY(y->field, x->field)
#define CPL_TEXT(field) CPL_ORDER(strcmp(x->field, y->field))
#define CPL_KEY(of_x, of_y) \
	CPL_ORDER((of_x) == (of_y) ? 0 : (of_x) < (of_y) ? -1 : 1)
#define CPL_ORDER(of_both) (order = order ? order : (of_both))

static inline CPL_SORT_BY(cpl_by_int, int, CPL_KEY(*x, *y))
static inline CPL_SORT_BY(cpl_by_uint32, uint32_t, CPL_KEY(*x, *y))
static inline CPL_SORT_BY(cpl_by_int64, int64_t, CPL_KEY(*x, *y))
static inline CPL_SORT_BY(cpl_by_uint64, uint64_t, CPL_KEY(*x, *y))
static inline CPL_SORT_BY(cpl_by_double, double, CPL_KEY(*x, *y))
static inline CPL_SORT_BY(cpl_by_double_down, double, CPL_KEY(*y, *x))
static inline CPL_SORT_BY(cpl_by_text, char *, CPL_ORDER(strcmp(*x, *y)))
