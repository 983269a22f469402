/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurmctld can read of users' profiles: as root it takes their rights; as
 * another user (SlurmUser) it has that user's own. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct slurm_reader {
	char *name; /* SlurmUser */
	uid_t uid;
	gid_t *group;
	int n_groups;
};

/* A reader by its name or number; NULL: it is root, it is not known here, or
 * memory is out. */
struct slurm_reader *slurm_reader_new(const char *user);
/* The SlurmUser of the site, as far as its slurm.conf can be read. */
struct slurm_reader *slurm_reader_of_site(void);
void slurm_reader_free(struct slurm_reader *reader);

/*
 * Does a mode shut it out of a file, or of a folder on the way? Then `why` says
 * which. What has an access list counts as open, and so does what cannot be
 * looked at. O(length of the path).
 */
bool slurm_reader_is_shut_out(const struct slurm_reader *reader,
                              const char *path, struct cpl_error *why);

/* The same of a store of profiles, and of the first of them. */
bool slurm_reader_misses_store(const struct slurm_reader *reader,
                               const char *dir, struct cpl_error *why);

/* Homes that a pattern of users' stores (site/user_dir.h) leads through and
 * that shut the reader out; *of is how many homes there are, and why says what
 * is wrong with the first by name. None where "%u" or "%U" is no folder's whole
 * name, or the folder of homes cannot be listed. O(homes). */
int slurm_reader_homes(const struct slurm_reader *reader, const char *pattern,
                       int *of, struct cpl_error *why);
