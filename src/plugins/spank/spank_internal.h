/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spank_commplace: the three user options in sbatch, salloc, srun and
 * slurmstepd. One file per context (allocator.c, local.c, remote.c) behind the
 * dispatch of spank_commplace.c; options.c holds what they share. Needs
 * Slurm's public headers only.
 *
 * Where a value goes:
 *   slurmctld        spank_job_env: COMM_PROFILE, COMM_PLACEMENT_POLICY,
 *                    COMM_RANK_MAPPING (job_submit and select read them)
 *   batch script,    environment variables of the same names
 *   salloc's shell,
 *   tasks
 * Whether a profile exists is job_submit's to say: only slurmctld's host is
 * sure to see the profiles.
 */
#ifndef CPL_SPANK_SPANK_INTERNAL_H
#define CPL_SPANK_SPANK_INTERNAL_H

#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stdbool.h>

#include "base/error.h"
#include "signature/signature.h"
#include "site/config.h"

enum { CPLSPANK_PROFILE, CPLSPANK_POLICY, CPLSPANK_MAPPING, CPLSPANK_COUNT };

struct cplspank_option {
	const char *name;     /* "comm-profile" */
	const char *variable; /* "COMM_PROFILE" */
	const char *arginfo;
	const char *usage;
	/* 0, or -1 with err saying what would be right. Opens no file. */
	int (*check)(const char *value, struct cpl_error *err);
	char value[CPL_PROFILE_NAME_MAX + 1]; /* "": not given */
};

/* Process-wide, as SPANK callbacks carry no handle. Indexed by the enum. */
extern struct cplspank_option cplspank_option[CPLSPANK_COUNT];

/* Register the options; in every context that may meet them. 0 or -1. */
int cplspank_register(spank_t sp);

/*
 * The variable by which sbatch and salloc tell, and srun inside the job and
 * slurmctld know, that distributions nobody stated are marked (local.c).
 */
#define CPLSPANK_MARKS "COMM_DISTRIBUTION"
/* Can they be? Not where the mark would change what a default means. */
bool cplspank_can_mark(void);

/*
 * After the command line is read, in sbatch, salloc and srun: hand the values
 * to slurmctld and to this process's environment, which the script, the shell
 * or the step inherits. 0 or -1.
 */
int cplspank_export(spank_t sp);

int cplspank_allocator_init(spank_t sp);
int cplspank_allocator_post_opt(spank_t sp);
int cplspank_local_init(spank_t sp);
int cplspank_local_post_opt(spank_t sp);
int cplspank_remote_init(spank_t sp);
int cplspank_remote_post_opt(spank_t sp);

#endif
