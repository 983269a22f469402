/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ranks did and links carried over time, in bins of equal width: the least
 * power of two of a second with which all time so far fits.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"

enum cpl_timeline_state {
	CPL_TIMELINE_COMPUTE,
	CPL_TIMELINE_COMMUNICATION,
	CPL_TIMELINE_WAITING,
	CPL_TIMELINE_STATES
};

/* Starts as {0}, which has no bins. */
struct cpl_timeline {
	int bins;
	double width; /* seconds; 0 before the first addition */
	int64_t n_ranks, n_links;
	float *rank; /* [n_ranks][CPL_TIMELINE_STATES][bins] seconds */
	float *link; /* [n_links][bins] seconds at full bandwidth */
};

/* bins >= 2. Returns 0, or -1 with err (memory); free it in either case. */
int cpl_timeline_init(struct cpl_timeline *t, int bins, int64_t n_ranks,
                      int64_t n_links, struct cpl_error *err);
void cpl_timeline_free(struct cpl_timeline *t);

/* Adds a state from one time to a later one. O(bins that it touches), or O(all)
 * where the width doubles for it. */
void cpl_timeline_rank(struct cpl_timeline *t, int64_t rank,
                       enum cpl_timeline_state state, double from, double to);
/* part is the share of the link's bandwidth. */
void cpl_timeline_link(struct cpl_timeline *t, int64_t link, double part,
                       double from, double to);

/* The number of bins up to a time, at least 1. */
int cpl_timeline_used(const struct cpl_timeline *t, double seconds);
