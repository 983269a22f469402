/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every Slurm daemon and command offers to the rooms above: its log, where
 * its configuration stands, what a job's environment says. Needs no header of
 * Slurm, as none of ctld.h, slurmd.h and share.h does: whoever includes these
 * cannot open a structure of Slurm.
 */
#ifndef CPL_COMPAT_DAEMON_H
#define CPL_COMPAT_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

/* A list of Slurm's. */
typedef struct xlist cplslurm_list;

/* A line each, in the daemon's log: the text begins with what speaks. */
void cplslurm_log_error(const char *format, ...)
        __attribute__((format(printf, 1, 2)));
void cplslurm_log_info(const char *format, ...)
        __attribute__((format(printf, 1, 2)));
void cplslurm_log_debug(const char *format, ...)
        __attribute__((format(printf, 1, 2)));

/* Path of commplace.conf: beside the slurm.conf this daemon or command uses.
 * From malloc(), to be freed with free(); NULL when memory is out. */
char *cplslurm_config_path(void);

/*
 * What a job's user asked for. Strings point into the array they were read
 * from; NULL: not asked.
 */
struct cplslurm_options {
	const char *profile; /* --comm-profile */
	const char *policy;  /* --placement-policy */
	const char *mapping; /* --rank-mapping */
	const char *record;  /* --comm-record */
};

/*
 * The options from a job's spank_job_env: COMM_PROFILE, COMM_PLACEMENT_POLICY,
 * COMM_RANK_MAPPING and COMM_RECORD, else what Slurm itself stores of them, _SLURM_SPANK_OPTION_commplace_comm_profile and so on. The text is
 * the user's and unchecked. O(n).
 */
struct cplslurm_options cplslurm_options(char *const *env, uint32_t n);

/* Value of a variable in an array of n "NAME=value" strings (NULL entries are
 * skipped); NULL: absent or empty. The last one wins. O(n). */
const char *cplslurm_env(char *const *env, uint32_t n, const char *name);

#endif
