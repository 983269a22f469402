/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How well one figure puts things in the order of another. */
#ifndef CPL_LEARN_CONCORDANT_H
#define CPL_LEARN_CONCORDANT_H

#include "base/error.h"

/*
 * Of pairs of n items, the part that two figures order alike (Jain 2016, 4.3:
 * RCC): for i > j a[i] >= a[j] and b[i] >= b[j], or a[i] < a[j] and b[i] < b[j];
 * 1 where there are no pairs. No figure is NaN. 0, or -1 with err (memory).
 * O(n log n): inversions by merging, as Knight counts them (JASA 61, 1966).
 */
int cpl_concordant(const double *a, const double *b, int n, double *part,
                   struct cpl_error *err);

#endif
