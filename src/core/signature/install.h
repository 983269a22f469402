/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This keeps profiles in a folder, the store of a site or a user. The files of a
 * name are
 *
 *   NAME.json             what is in use; of several numbers of ranks, of the
 *                         one that came first
 *   NAME@RANKS.json       what is in use of each other number of ranks
 *   .NAME@RANKS.vN.json   what was installed, never changed; N counts on
 *                         through all sizes of a name
 *
 * and side files ".NAME@RANKS.vN.phaseK.comm". Each is a signature by itself; files
 * that were put there by hand are just as good. One rename changes what is in use,
 * so a reader sees the old one or the new one even after a crash. Installers wait
 * for each other with flock of ".lock", which only those can open who may write to
 * the folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "signature/signature.h"

/* Traffic of at least so many stored pairs goes to side files. */
#define CPL_INSTALL_BINARY 100000

/* This tells where a version comes from. It becomes "installed" in "recorded", with
 * the "distance" (cpl_comm_distance) from what was in use before it. */
struct cpl_install {
	const char *by;   /* a user's name */
	const char *from; /* the file it was */
	int64_t time;     /* seconds since 1970 */
	/* versions of the size that stay, at least 1, with the one in use */
	int keep;
};

/* This makes a signature the profile NAME for its number of ranks; sig->recorded
 * gets the origin, and sig->name becomes the profile's. If a file is in use that no
 * version holds because it was put there by hand, it becomes a version first. It
 * returns the version's number, or -1 with err, in which case nothing changes. It
 * costs O(its size + files of the folder). */
int cpl_profile_install(const char *dir, const char *name,
                        struct cpl_signature *sig,
                        const struct cpl_install *how, struct cpl_error *err);

/* This returns the "distance" of a profile's origin, how far it is from the one in
 * use before it (cpl_comm_distance), or below 0 if there was none or it was not
 * installed. */
double cpl_profile_change(const struct cpl_signature *sig);

/* This makes the name of the profile that a job is recorded as. It is `pattern`
 * with the job's name for each "%x"; characters that no profile's name has become
 * "-", and a first character that none begins with becomes "_". It returns 0, or -1
 * with err if the name is too long or has another "%". */
int cpl_record_name(const char *pattern, const char *job, char *out,
                    size_t size, struct cpl_error *err);

/* This takes an installed version into use again for its number of ranks. It
 * returns 0, or -1 with err, which lists the versions. */
int cpl_profile_roll_back(const char *dir, const char *name, int version,
                          struct cpl_error *err);

/* This removes all files of a name, or (ranks > 0) those of one size. If that was
 * NAME.json, the smallest other size becomes NAME.json. It returns 0, or -1 with
 * err. */
int cpl_profile_remove(const char *dir, const char *name, int ranks,
                       struct cpl_error *err);

struct cpl_version {
	int number, ranks;
	bool in_use;
};

/* This lists the versions of a name by their numbers in an array to free(). It
 * returns how many, or -1 with err. It reads what is in use to compare. */
int cpl_profile_versions(const char *dir, const char *name,
                         struct cpl_version **version, struct cpl_error *err);

/* This lists the numbers of ranks of a name, increasing, in an array to free(). It
 * returns how many (0 if there is no such profile), or -1 with err. It costs
 * O(files of the folder), and reads all of NAME.json where its ranks stand behind
 * its traffic. */
int cpl_profile_sizes(const char *dir, const char *name, int **ranks,
                      struct cpl_error *err);

/* This returns "DIR/NAME@RANKS.json" after cpl_profile_name_check. The caller frees
 * it. */
char *cpl_profile_size_path(const char *dir, const char *name, int ranks,
                            struct cpl_error *err);

/* This returns the file of NAME at so many ranks, or NAME.json if ranks is 0 or
 * there is none. The caller frees it. */
char *cpl_profile_file(const char *dir, const char *name, int ranks,
                       struct cpl_error *err);

/*
 * This returns the file of NAME that suits so many ranks best, for the caller to
 * free. It is the file of that size, or else of the size nearest by proportion (of
 * two, the smaller), and `sizes` becomes "16, 64 and 512 ranks". It is NAME.json
 * where ranks is 0, or where NAME.json is missing or does not say its ranks before
 * its traffic. It returns NULL with err when memory is out or the name is wrong. It
 * reads no more than the beginning of NAME.json. It costs O(1) for a size that
 * exists, else O(files of the folder).
 */
char *cpl_profile_nearest(const char *dir, const char *name, int ranks,
                          char *sizes, size_t size, struct cpl_error *err);

/* Models of time (learn/models.h) are kept in the same way: */

/* This locks a folder for a change of a name, which it checks, until the descriptor
 * is closed. It waits for others. It returns -1 with err. */
int cpl_install_lock(const char *dir, const char *name, struct cpl_error *err);

/* This returns 1 if both files hold the same bytes, 0 if they differ or one is
 * missing, or -1 with err. */
int cpl_install_same(const char *a, const char *b, struct cpl_error *err);

/* This copies a file to another one by a rename. It returns 0, or -1 with err. */
int cpl_install_copy(const char *from, const char *to, int mode,
                     struct cpl_error *err);

/* This compares struct cpl_version for qsort. */
int cpl_version_by_number(const void *a, const void *b);

/* This says in err that there is no such version, and which of the n there are. -1. */
int cpl_install_no_version(const char *name, int version,
                           const struct cpl_version *list, int n,
                           struct cpl_error *err);
