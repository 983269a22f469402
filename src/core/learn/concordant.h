/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This tells how well one figure puts things in the order of another. */
#pragma once

#include "base/error.h"

/* Of the pairs of n items, this is the part that two figures order alike (Jain
 * 2016, 4.3: RCC): for i > j a[i] >= a[j] and b[i] >= b[j], or a[i] < a[j] and b[i]
 * < b[j]. It is 1 where there are no pairs. No figure is NaN. It returns 0, or -1
 * with err when memory is out. It costs O(n log n), since inversions are counted by
 * merging, as Knight does (JASA 61, 1966). */
int cpl_concordant(const double *a, const double *b, int n, double *part,
                   struct cpl_error *err);
