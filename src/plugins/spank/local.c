/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In srun. Inside a job Slurm calls the option callbacks with the job's own
 * values first (it keeps them in SLURM_SPANK_* variables), so a step has the
 * job's profile unless its command line says otherwise; nodes and rank order
 * stay those of the job.
 */
#include "spank_internal.h"

int cplspank_local_init(spank_t sp)
{
	return cplspank_register(sp);
}

int cplspank_local_post_opt(spank_t sp)
{
	return cplspank_export(sp);
}
