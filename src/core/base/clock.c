/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

int64_t cpl_milliseconds(const char *text)
{
	size_t n = strspn(text, "0123456789");
	const char *unit = text + n;
	int64_t scale = 1;

	if (!strcasecmp(unit, "s"))
		scale = 1000;
	else if (*unit && strcasecmp(unit, "ms"))
		return -1;
	/* More digits might not fit. */
	return n > 0 && n < 16 ? scale * strtoll(text, NULL, 10) : -1;
}
