/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What decision records tell of the profiles that jobs have had. */
#pragma once

#include <stdint.h>

#include "base/error.h"

/* Of one profile at one number of ranks. */
struct cpl_usage {
	char *profile;
	int ranks;    /* 0: of jobs whose layout was not recorded */
	int jobs;
	int64_t last; /* seconds since 1970 of the last decision */
	/* Of `gains` jobs that were placed and compared with the stock nodes:
	 * the sum of 1 - ours / theirs, in predicted seconds of communication,
	 * else in congestion of the busiest link. */
	double gain;
	int gains;
};

/*
 * By profile, then ranks; running and ended jobs. Records that cannot be read
 * are left out. How many, cpl_usage_free them; or -1 with err: no such state
 * directory, or memory. O(bytes of the records + jobs log jobs).
 */
int cpl_usage_read(const char *state_dir, struct cpl_usage **usage,
                   struct cpl_error *err);
void cpl_usage_free(struct cpl_usage *usage, int n);
