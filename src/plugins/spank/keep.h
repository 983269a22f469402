/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that makes a profile of what a job recorded, as the job's user:
 *
 *   commplace signature install --user --recorded JOB -- NAME
 *
 * It works on files of the user's, which may hang, and takes as much memory as
 * the user's recordings have it take.
 */
/* Tests: * in test_spank_*. */
#ifndef CPL_SPANK_KEEP_H
#define CPL_SPANK_KEEP_H

#include <stdbool.h>
#include <sys/types.h>

#include "signature/signature.h"

/* A large matrix is written twice. What is not done by then is ended. */
#define SPANK_KEEP_MS 120000
/* That long the kernel has for it: a process may hang in a file system. */
#define SPANK_END_MS 5000

#define SPANK_PATH_SIZE 4096

/* Who hears of it. */
enum spank_hears {
	SPANK_USER_HEARS, /* at the terminal, of a batch job in its output: what
	                   * is lost; slurmd's log of all */
	SPANK_LOG_HEARS,
	SPANK_NOBODY_HEARS, /* but who debugs */
};

struct spank_keeping {
	/* "VARIABLE=VALUE" of its environment; "": none. */
	char home[SPANK_PATH_SIZE + 8], store[SPANK_PATH_SIZE + 32],
	        conf[SPANK_PATH_SIZE + 16];
	char name[CPL_PROFILE_NAME_MAX + 1], job[64];
	/* We are root, and it is that user's. */
	bool has_ids;
	uid_t uid;
	gid_t gid, *group;
	int n_groups;
	enum spank_hears hears;
};

/*
 * Run it, and pass on its words. Waits SPANK_KEEP_MS and SPANK_END_MS
 * at most. Of root's processes it is one that the kernel may end when memory is
 * out.
 */
void spank_keep(const struct spank_keeping *keeping);

/* Instead: the job, or program, did not end well; or it cannot be run. */
void spank_keep_nothing(const struct spank_keeping *keeping);
void spank_keep_lost(const struct spank_keeping *keeping, const char *why);

#endif
