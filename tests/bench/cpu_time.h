/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of benchmarks of one thread. */
#pragma once

#include <time.h>

/* CPU seconds of the process. */
static inline double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
