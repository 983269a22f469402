/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CPL_BASE_CLOCK_H
#define CPL_BASE_CLOCK_H

#include <time.h>

/* Seconds of a clock that nobody sets, from some moment on. O(1). */
static inline double cpl_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
