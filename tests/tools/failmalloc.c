/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LD_PRELOAD: make one allocation fail. Counted are calls of malloc, calloc
 * and realloc whose chain of callers, past libc and libjansson, comes from a
 * shared object with FAILMALLOC_OBJECT in its name. What Slurm allocates for
 * itself on the way is not counted: its allocator ends the process by design.
 *
 *   failmalloc_arm(n)   the n-th counted allocation from now on fails (n = 0:
 *                       count only)
 *   failmalloc_disarm() returns how many were counted
 *
 * The program finds both with dlsym(RTLD_DEFAULT, ...).
 */
#include "commplace-config.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

void failmalloc_arm(long n);
long failmalloc_disarm(void);

static atomic_bool armed;
static atomic_long counted, target;
static _Thread_local bool inside;
static char object[128] = "select_cons_tres_commplace";

__attribute__((constructor)) static void warm_up(void)
{
	const char *name = getenv("FAILMALLOC_OBJECT");
	void *frame[2];

	if (name && strlen(name) < sizeof(object))
		strcpy(object, name);
	/* The first call loads libgcc_s and allocates. */
	backtrace(frame, 2);
}

void failmalloc_arm(long n)
{
	counted = 0;
	target = n;
	armed = true;
}

long failmalloc_disarm(void)
{
	armed = false;
	return counted;
}

static bool counts(void)
{
	void *frame[24];
	int n = backtrace(frame, 24);

	for (int i = 2; i < n; i++) {
		Dl_info info;

		if (!dladdr(frame[i], &info) || !info.dli_fname)
			return false;
		if (strstr(info.dli_fname, object))
			return true;
		if (!strstr(info.dli_fname, "libc.so") &&
		    !strstr(info.dli_fname, "libjansson") &&
		    !strstr(info.dli_fname, "failmalloc"))
			return false;
	}
	return false;
}

static bool fails(void)
{
	bool fail = false;

	if (!armed || inside)
		return false;
	inside = true;
	if (counts())
		fail = ++counted == target;
	inside = false;
	if (fail)
		errno = ENOMEM;
	return fail;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}
