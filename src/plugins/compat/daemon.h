/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every Slurm daemon and command offers this to the rooms above: its log, where its
 * configuration stands, and what a job's environment says. It needs no header of
 * Slurm, nor do ctld.h, slurmd.h and slurm_share.h: whoever includes these cannot
 * open a structure of Slurm. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* This is Slurm's own list. */
typedef struct xlist cplslurm_list;

/* Each logs a line in the daemon's log, and its text begins with what speaks. */
void cplslurm_log_error(const char *format, ...)
        __attribute__((format(printf, 1, 2)));
void cplslurm_log_info(const char *format, ...)
        __attribute__((format(printf, 1, 2)));
void cplslurm_log_debug(const char *format, ...)
        __attribute__((format(printf, 1, 2)));

/* Return the path of commplace.conf, which is beside the slurm.conf that this daemon
 * or command uses, to be freed; NULL when memory is out. */
char *cplslurm_config_path(void);

/* A job's user asked for these. The strings point into the array that they were read
 * from; NULL means that nothing was asked. */
struct cplslurm_options {
	const char *profile; /* --comm-profile */
	const char *policy;  /* --placement-policy */
	const char *mapping; /* --rank-mapping */
	const char *record;  /* --comm-record */
};

/* Read the options from a job's spank_job_env: COMM_PROFILE, COMM_PLACEMENT_POLICY,
 * COMM_RANK_MAPPING and COMM_RECORD, else what Slurm itself stores of them,
 * _SLURM_SPANK_OPTION_commplace_comm_profile and so on. The text is the user's and
 * unchecked. O(n). */
struct cplslurm_options cplslurm_options(char *const *env, uint32_t n);

/* Return a variable's value in an array of n "NAME=value" strings, where NULL
 * entries are skipped and the last one wins, or NULL where it is absent or empty.
 * O(n). */
const char *cplslurm_env(char *const *env, uint32_t n, const char *name);
