/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long each rank computes in a phase, as text of a signature: percents of the
 * mean in the order of ranks, runs of one as PERCENTxLENGTH: "100x14,230,95". */
#ifndef CPL_SIGNATURE_RANK_COMPUTE_H
#define CPL_SIGNATURE_RANK_COMPUTE_H

#include <stdio.h>

#include "base/error.h"

/* Seconds of each rank, [ranks], to free(); NULL with err: memory, or text that is
 * not of so many ranks. mean > 0. O(text + ranks). */
double *rank_compute_parse(const char *text, int ranks, double mean,
                           struct cpl_error *err);

/* The text of so many seconds. O(ranks). */
void rank_compute_print(FILE *f, const double *seconds, int ranks, double mean);

#endif
