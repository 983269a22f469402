/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/commplace: what slurmctld checks before it accepts a job.
 *
 * job_submit_commplace.c  the plugin's symbols; Slurm's job description to a
 *                         request, and a verdict back onto it
 * worker.c                the thread in which requests are decided
 * check.c                 the rules
 * site.c                  commplace.conf and the network's type, re-read on
 *                         change
 * profiles.c              validated profiles
 *
 * Slurm calls one at a time, under slurmctld's locks. All files are looked at
 * in the worker thread, so that a file system that hangs costs a submission
 * CPLSUBMIT_BUDGET seconds once and those after it nothing. Files are regular
 * and bounded, and parsed only when they are new or have changed.
 */
#ifndef CPL_JOB_SUBMIT_INTERNAL_H
#define CPL_JOB_SUBMIT_INTERNAL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "slurm_compat_ctld.h"

#include "base/error.h"
#include "network/network.h"
#include "site/config.h"

/* Seconds that a submission waits for files. */
#define CPLSUBMIT_BUDGET 2

/* Larger profiles are refused at submission: the job waits while they are
 * parsed. */
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

/* A job as far as the rules look at it. Owned copies; NULL: not given. */
struct cplsubmit_request {
	char *profile, *policy, *mapping; /* the user's wishes, unchecked */
	char *job_name;
	char *partition; /* the first one the job may run in */
	int64_t ranks;   /* 0: not known yet */
};

/* What to do with it. Texts are owned by the caller. */
struct cplsubmit_verdict {
	int rc;        /* SLURM_SUCCESS, or the submission's error code */
	char *message; /* for the user: why not, or a note */
	char *attach;  /* profile of a Match rule to give the job */
	char *comment; /* to append to AdminComment */
};

void cplsubmit_request_free(struct cplsubmit_request *request);
void cplsubmit_verdict_free(struct cplsubmit_verdict *verdict);

/*
 * Apply the rules. Reads files as cplsubmit_config() and cplsubmit_profile()
 * do; a text for which memory is out is left NULL.
 */
void cplsubmit_decide(const struct cplsubmit_request *request,
                      struct cplsubmit_verdict *verdict);

/*
 * The same in the worker thread, which takes the request. True: *verdict is
 * filled. False after CPLSUBMIT_BUDGET seconds, or at once while an earlier
 * request still hangs or no thread can be had.
 */
bool cplsubmit_ask(struct cplsubmit_request *request,
                   struct cplsubmit_verdict *verdict);

/*
 * End the worker. False when it hangs: it is left behind, and what it uses
 * must be too.
 */
bool cplsubmit_worker_fini(void);

/* Forget everything that was read. */
void cplsubmit_site_fini(void);
void cplsubmit_profiles_fini(void);

extern int init(void);
extern int fini(void);
extern int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **message);
extern int job_modify(job_desc_msg_t *job, job_record_t *record,
                      uint32_t submit_uid);

#endif
