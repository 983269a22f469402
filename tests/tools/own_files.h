/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * open() and rename() in front of the C library's, for file systems as a test
 * wants them. It says by macros before, of path or to, with OWN_OPEN and
 * OWN_RENAME which of the two it needs:
 *   OWN_OPEN      opens of which files wait while `hang` is set
 *   COUNTED       opens of which files are counted; default: all
 *   OWN_RENAME    what comes first: an errno to fail with, or 0
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_bool hang;

#ifdef OWN_OPEN
#ifndef COUNTED
#define COUNTED true
#endif
static atomic_int opened, hanging; /* files; threads that wait */

static int own_open(const char *path, int flags, mode_t mode)
{
	opened += COUNTED;
	if (hang && OWN_OPEN) {
		hanging++;
		while (hang)
			usleep(1000);
		hanging--;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#include "own_open.h"
#endif

#ifdef OWN_RENAME
int rename(const char *from, const char *to)
{
	int failure = OWN_RENAME;

	if (!failure)
		return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
		                    0);
	errno = failure;
	return -1;
}
#endif
