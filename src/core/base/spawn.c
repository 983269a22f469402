/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "base/spawn.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>

extern char **environ;

static int set_up(posix_spawnattr_t *attr, posix_spawn_file_actions_t *actions,
                  int fd, int as)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	return posix_spawnattr_setsigmask(attr, &none) |
	       posix_spawnattr_setsigdefault(attr, &all) |
	       posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
	                                              POSIX_SPAWN_SETSIGDEF |
	                                              POSIX_SPAWN_SETSID) |
	       posix_spawn_file_actions_adddup2(actions, fd, as);
}

int cpl_spawn(pid_t *child, const char *program, char *const argv[], int fd,
              int as)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc = posix_spawnattr_init(&attr);

	if (!rc) {
		rc = posix_spawn_file_actions_init(&actions);
		if (!rc) {
			rc = set_up(&attr, &actions, fd, as);
			if (!rc)
				rc = posix_spawn(child, program, &actions,
				                 &attr, argv, environ);
			posix_spawn_file_actions_destroy(&actions);
		}
		posix_spawnattr_destroy(&attr);
	}
	errno = rc;
	return rc ? -1 : 0;
}
