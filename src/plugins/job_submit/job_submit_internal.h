/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/commplace: what slurmctld checks before it accepts a job. All of
 * it runs under slurmctld's locks and job_submit's own mutex: calls are
 * serialised, files are regular and bounded, and a file is parsed only when it
 * is new or has changed since.
 *
 * job_submit_commplace.c  the plugin's symbols
 * check.c                 the rules, on Slurm's job description
 * site.c                  commplace.conf and the network's type, re-read on
 *                         change
 * profiles.c              validated profiles
 */
#ifndef CPL_JOB_SUBMIT_INTERNAL_H
#define CPL_JOB_SUBMIT_INTERNAL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "slurm_compat_ctld.h"

#include "base/error.h"
#include "network/network.h"
#include "site/config.h"

/* Larger profiles are refused at submission: parsing takes slurmctld's lock.
 * About a second of parsing. */
#define CPLSUBMIT_PROFILE_MAX (32ULL << 20)
/* Profiles remembered; the oldest is forgotten first. */
#define CPLSUBMIT_PROFILES 256

/* What tells that a file is still the one that was read. */
struct cplsubmit_stamp {
	bool exists;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
};

/* Stamp of a path, following no link. O(1), one lstat(). */
struct cplsubmit_stamp cplsubmit_stamp(const char *path);
bool cplsubmit_same(const struct cplsubmit_stamp *a,
                    const struct cplsubmit_stamp *b);

/*
 * The configuration in force, or NULL with err when none could ever be read.
 * Looked at again whenever the file has changed; a broken new one is logged
 * once and the old one stays. The pointer is good until the next call.
 */
const struct cpl_config *cplsubmit_config(struct cpl_error *err);

/* Type of the network of config->network_file. False when it cannot be told
 * (no file, unreadable: the select plugin reports that). */
bool cplsubmit_network_type(const struct cpl_config *config,
                            enum cpl_network_type *out);

enum cplsubmit_found {
	CPLSUBMIT_OK,
	CPLSUBMIT_BAD_NAME, /* no valid profile name */
	CPLSUBMIT_MISSING,  /* no such file */
	CPLSUBMIT_DAMAGED,  /* a file, but no valid signature */
};

/*
 * Look a profile up and validate it, from memory when the file has not
 * changed. *ranks is set when it is valid; otherwise err holds file, field and
 * reason.
 */
enum cplsubmit_found cplsubmit_profile(const struct cpl_config *config,
                                       const char *name, int *ranks,
                                       struct cpl_error *err);

/*
 * Check a job and complete its description: SLURM_SUCCESS, with *message
 * (xmalloc'd) for the user when something is worth a note, or an error code
 * with *message saying why.
 */
int cplsubmit_check(job_desc_msg_t *job, char **message);

/* Forget everything that was read. */
void cplsubmit_site_fini(void);
void cplsubmit_profiles_fini(void);

extern int init(void);
extern int fini(void);
extern int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **message);
extern int job_modify(job_desc_msg_t *job, job_record_t *record,
                      uint32_t submit_uid);

#endif
