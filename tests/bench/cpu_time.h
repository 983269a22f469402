/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of benchmarks of one thread. */
#ifndef TESTS_BENCH_CPU_TIME_H
#define TESTS_BENCH_CPU_TIME_H

#include <time.h>

/* CPU seconds of the process. */
static inline double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
