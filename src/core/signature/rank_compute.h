/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is the text in a signature that says how long each rank computes in a phase:
 * percents of the mean in the order of ranks, with runs as PERCENTxLENGTH:
 * "100x14,230,95". */
#pragma once

#include <stdio.h>

#include "base/error.h"

/* This returns the seconds of each rank, [ranks], to free(). It returns NULL with
 * err when memory is out or the text is not of so many ranks. mean is above 0. It
 * costs O(text + ranks). */
double *rank_compute_parse(const char *text, int ranks, double mean,
                           struct cpl_error *err);

/* This prints the text of so many seconds. It costs O(ranks). */
void rank_compute_print(FILE *f, const double *seconds, int ranks, double mean);
