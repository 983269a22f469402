/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a user's own profiles are, and reading them with the user's rights. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* In a user's home: where the commands have profiles without UserProfileDir, and
 * where jobs put what they record until it is a profile. */
#define CPL_USER_DIR_HOME ".commplace/profiles"
#define CPL_RECORDING_DIR ".commplace/recording"

/* Is it an absolute path with %u (name) or %U (number) of a user in it, and no
 * other "%"? 0, or -1 with err, which goes on behind the value. */
int cpl_user_dir_check(const char *pattern, struct cpl_error *err);

/* The folder of a user, for the caller to free. %u asks the system's user
 * database, which may take long. NULL with err. */
char *cpl_user_dir(const char *pattern, uid_t uid, struct cpl_error *err);

/* The groups of a user of that name and first group, which is among them; 65,536
 * at most. How many, to free(); -1: memory. The system's database of groups is
 * asked, which may take long. */
int cpl_user_groups(const char *name, gid_t gid, gid_t **group);
bool cpl_user_in_group(const gid_t *group, int n, gid_t gid);

/*
 * Have this thread, and no other, open files with the rights of a user until it
 * calls cpl_user_end: where we are root, by its file system ids and groups, which
 * the system's user database is asked for (it may take long). Others keep their
 * own rights, and what they open has to be the user's own all the same. -1 with
 * err: it must not open anything.
 */
struct cpl_user_rights {
	bool changed;
	gid_t gid;
};
/* Until the last that began ends, the process leaves no core. */
int cpl_user_begin(struct cpl_user_rights *before, uid_t uid,
                   struct cpl_error *err);
void cpl_user_end(const struct cpl_user_rights *before);
