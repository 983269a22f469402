/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LD_PRELOAD into daemons: their clock of the day is as many seconds ahead
 * (behind, where negative) as the file COMMPLACE_CLOCK says, at each moment: 8
 * bytes, a signed number of this machine. What waits until a time of day waits
 * as long as without. CLOCK_MONOTONIC, files and the kernel keep their time.
 */
#include "commplace-config.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Below it a time is none of day, but one since the machine's start. */
#define DAYS_BEGIN 1000000000

static const volatile int64_t *ahead;

__attribute__((constructor)) static void find(void)
{
	const char *path = getenv("COMMPLACE_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(*ahead), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		ahead = map;
}

static int64_t shift(void)
{
	return ahead ? *ahead : 0;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, id, now);

	if (!rc && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		now->tv_sec += shift();
	return rc;
}

time_t time(time_t *out)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec at = {0};

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &at);
	*now = (struct timeval){at.tv_sec, at.tv_nsec / 1000};
	return 0;
}

static struct timespec of_kernel(const struct timespec *at)
{
	struct timespec out = *at;

	if (out.tv_sec >= DAYS_BEGIN)
		out.tv_sec -= shift();
	return out;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond,
                           pthread_mutex_t *restrict lock,
                           const struct timespec *restrict at)
{
	static int (*real)(pthread_cond_t *, pthread_mutex_t *,
	                   const struct timespec *);
	struct timespec until = of_kernel(at);

	/* Not the one of before 2.3.2, whose conditions are others. */
	if (!real)
		*(void **)&real = dlvsym(RTLD_NEXT, "pthread_cond_timedwait",
		                         "GLIBC_2.3.2");
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	return real(cond, lock, &until);
}

int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict at)
{
	static int (*real)(sem_t *, const struct timespec *);
	struct timespec until = of_kernel(at);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sem_timedwait");
	return real(sem, &until);
}
