/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <errno.h>

int64_t cpl_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void cpl_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

bool cpl_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                         int64_t deadline)
{
	struct timespec at = {deadline / 1000000000, deadline % 1000000000};

	return pthread_cond_timedwait(cond, lock, &at) != ETIMEDOUT;
}
