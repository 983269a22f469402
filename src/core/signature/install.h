/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of profiles in a folder, the store of a site or a user. Of a name
 * there are
 *
 *   NAME.json             what is in use; of several numbers of ranks, of the
 *                         one that came first
 *   NAME@RANKS.json       what is in use of each other number of ranks
 *   .NAME@RANKS.vN.json   what was installed, never changed; N counts on
 *                         through all sizes of a name
 *
 * and side files ".NAME@RANKS.vN.phaseK.comm". Each is a signature by itself;
 * files that were put there by hand are as good. What is in use changes by one
 * rename: a reader, or a crash, sees the old one or the new one. Installers
 * wait for each other (flock of ".lock", which only those can open who may write
 * to the folder).
 */
#ifndef CPL_SIGNATURE_INSTALL_H
#define CPL_SIGNATURE_INSTALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "signature/signature.h"

/* Stored pairs from which on traffic goes to side files. */
#define CPL_INSTALL_BINARY 100000

/* Where a version comes from: becomes "installed" of its "recorded", with the
 * "distance" (cpl_comm_distance) from what was in use before it. */
struct cpl_install {
	const char *by;   /* a user's name */
	const char *from; /* the file it was */
	int64_t time;     /* seconds since 1970 */
	int keep; /* how many versions of the size stay, that in use among
	           * them; at least 1 */
};

/*
 * Make a signature the profile NAME of its ranks; sig->recorded gets the
 * origin, and sig->name the profile's. A file in use that no version holds (put
 * there by hand) becomes a version first. The version's number, or -1 with err
 * and what was in use still is. O(its size + files of the folder).
 */
int cpl_profile_install(const char *dir, const char *name,
                        struct cpl_signature *sig,
                        const struct cpl_install *how, struct cpl_error *err);

/* How far a profile is from the one in use before it (cpl_comm_distance): the
 * "distance" of its origin; < 0: there was none, or it was not installed. */
double cpl_profile_change(const struct cpl_signature *sig);

/*
 * The profile that a job is recorded as: `pattern` with the job's name for each
 * "%x", with "-" for what no profile's name has, with "_" for a first character that
 * none begins with. 0, or -1 with err: that is none (too long, or another "%").
 */
int cpl_record_name(const char *pattern, const char *job, char *out,
                    size_t size, struct cpl_error *err);

/* Take an installed version into use again, for its number of ranks. 0, or -1
 * with err, which lists the versions. */
int cpl_profile_roll_back(const char *dir, const char *name, int version,
                          struct cpl_error *err);

/* Remove all that there is of a name, or (ranks > 0) of one size: if it was
 * NAME.json, the smallest other size becomes that. 0, or -1 with err. */
int cpl_profile_remove(const char *dir, const char *name, int ranks,
                       struct cpl_error *err);

struct cpl_version {
	int number, ranks;
	bool in_use;
};

/* The versions that there are of a name by their numbers, to free(); how many,
 * or -1 with err. Reads what is in use to compare. */
int cpl_profile_versions(const char *dir, const char *name,
                         struct cpl_version **version, struct cpl_error *err);

/*
 * The numbers of ranks of a name, increasing, to free(); how many (0: no such
 * profile), or -1 with err. O(files of the folder), and NAME.json is read where
 * its ranks stand behind its traffic.
 */
int cpl_profile_sizes(const char *dir, const char *name, int **ranks,
                      struct cpl_error *err);

/* "DIR/NAME@RANKS.json" after cpl_profile_name_check; the caller frees it. */
char *cpl_profile_size_path(const char *dir, const char *name, int ranks,
                            struct cpl_error *err);

/* The file of NAME at so many ranks (0, or there is none: NAME.json). The
 * caller frees it. */
char *cpl_profile_file(const char *dir, const char *name, int ranks,
                       struct cpl_error *err);

/*
 * The file of NAME for so many ranks, for the caller to free: of that size; else
 * of the one nearest by proportion, of two the smaller, and "16, 64 and 512
 * ranks" into sizes; else, where ranks is 0, or NAME.json is not there or does
 * not say its ranks before its traffic, NAME.json. NULL with err: memory, or no
 * name. Reads no more than the beginning of NAME.json. O(1) for a size that
 * there is, else O(files of the folder).
 */
char *cpl_profile_nearest(const char *dir, const char *name, int ranks,
                          char *sizes, size_t size, struct cpl_error *err);

#endif
