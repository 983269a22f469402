/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This runs the command that makes a profile of what a job recorded, as the job's
 * user:
 *
 *   commplace signature install --user --recorded JOB -- NAME
 *
 * It works on files of the user's, which may hang, and takes as much memory as the
 * user's recordings need.
 */
/* Tests: * in test_spank_*. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "signature/signature.h"

/* A large matrix is written twice. A command that takes longer is ended. */
#define SPANK_KEEP_MS 120000
/* The kernel gets so long to end it, since a process may hang in a file system. */
#define SPANK_END_MS 5000

#define SPANK_PATH_SIZE 4096

/* These hear of it. */
enum spank_hears {
	SPANK_USER_HEARS, /* at the terminal, of a batch job in its output: what
	                   * is lost; slurmd's log of all */
	SPANK_LOG_HEARS,
	SPANK_NOBODY_HEARS, /* but who debugs */
};

struct spank_keeping {
	/* These are "VARIABLE=VALUE" of its environment, or "" for none. */
	char home[SPANK_PATH_SIZE + 8], store[SPANK_PATH_SIZE + 32],
	        conf[SPANK_PATH_SIZE + 16];
	char name[CPL_PROFILE_NAME_MAX + 1], job[64];
	/* We are root, and these are that user's ids. */
	bool has_ids;
	uid_t uid;
	gid_t gid, *group;
	int n_groups;
	enum spank_hears hears;
};

/* This runs it, and passes on its messages. It waits at most SPANK_KEEP_MS and
 * SPANK_END_MS. The kernel may end it when memory is out, unlike other processes of
 * root. */
void spank_keep(const struct spank_keeping *keeping);

/* This is called instead if the job, or program, did not end well, or the command
 * cannot be run. */
void spank_keep_nothing(const struct spank_keeping *keeping);
void spank_keep_lost(const struct spank_keeping *keeping, const char *why);
