/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In srun. Inside a job Slurm calls the option callbacks with the job's own
 * values first (it keeps them in SLURM_SPANK_* variables), so a step has the
 * job's profile unless its command line says otherwise; nodes and rank order
 * stay those of the job.
 */
#include "spank_internal.h"

#include <stdlib.h>

/*
 * srun sends a distribution that nobody stated as if it were -m block. Before
 * it looks at its environment and its options, we state the flag that means
 * what is so anyhow (no packing), and it adds it to what it chooses itself;
 * whatever the user states takes its place.
 */
static void mark_default(void)
{
	if (getenv("SLURM_JOB_ID") && getenv("SLURM_SPANK_" CPLSPANK_MARKS) &&
	    cplspank_can_mark())
		setenv("SLURM_DISTRIBUTION", "nopack", 0);
}

int cplspank_local_init(spank_t sp)
{
	mark_default();
	return cplspank_register(sp);
}

int cplspank_local_post_opt(spank_t sp)
{
	return cplspank_export(sp);
}
