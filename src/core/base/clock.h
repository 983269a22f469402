/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Seconds of a clock that nobody sets, from some moment on. O(1). */
static inline double cpl_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nanoseconds of that clock, which deadlines are given in; all processes of a
 * host read the same. O(1). */
int64_t cpl_now(void);

/* Have a condition wait by that clock. */
void cpl_cond_init(pthread_cond_t *cond);
/* Wait for cond until the deadline. False: it has passed. */
bool cpl_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                         int64_t deadline);

/* The milliseconds of a time as users write it, 200, 200ms or 2s. -1: it is none. */
int64_t cpl_milliseconds(const char *text);
