/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another program, begun from a daemon that has threads, signals and descriptors
 * of its own. */
#pragma once

#include <sys/types.h>

/*
 * Begin a program in a session of its own, so that a signal to the daemon's group
 * does not reach it, with no signal blocked or ignored. It has our descriptor fd as
 * its own `as`, and what is not marked close-on-exec. 0, and -1 with errno.
 */
int cpl_spawn(pid_t *child, const char *program, char *const argv[], int fd,
              int as);
