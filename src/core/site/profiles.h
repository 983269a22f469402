/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profiles that jobs of records and of STATE.json have, found by the store
 * as the scheduler's engine finds them: by name and ranks, in the folder that
 * the decision had them from. For commands: files that hang are waited for.
 */
#pragma once

#include "site/store.h"

struct cpl_profile_dirs {
	const char *dir;      /* the site's; NULL: not known */
	const char *user_dir; /* a pattern, see user_dir.h; NULL: not known */
	uint64_t max_bytes;   /* cpl_store_limit */
	bool rescale;
};

/* What a job has: by name, or by path where it holds a "/". */
struct cpl_profile_wanted {
	const char *name;
	int ranks; /* of the job, 0: not known, whatever it has is right */
	bool own;  /* its user's, who is uid; else the site's */
	uid_t uid;
};

struct cpl_profiles;

/* The texts of dirs must stay. NULL with err: memory. */
struct cpl_profiles *cpl_profiles_open(const struct cpl_profile_dirs *dirs,
                                       struct cpl_error *err);
void cpl_profiles_close(struct cpl_profiles *profiles);

/* A reference for the caller; NULL with err, which says so where the file is
 * not the caller's to read. */
struct cpl_profile *cpl_profiles_find(struct cpl_profiles *profiles,
                                      const struct cpl_profile_wanted *wanted,
                                      struct cpl_error *err);

/* The file that cpl_profiles_find would read for a name, as far as its folder
 * can be looked into; free() it. NULL with err. */
char *cpl_profiles_file(const struct cpl_profile_dirs *dirs,
                        const struct cpl_profile_wanted *wanted,
                        struct cpl_error *err);
