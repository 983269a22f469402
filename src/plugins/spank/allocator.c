/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In sbatch and salloc. */
#include "spank_internal.h"

int cplspank_allocator_init(spank_t sp)
{
	return cplspank_register(sp);
}

int cplspank_allocator_post_opt(spank_t sp)
{
	bool any = false;

	for (int i = 0; i < CPLSPANK_COUNT; i++)
		any = any || *cplspank_option[i].value;
	/* Without it slurmctld has to guess: no reason to fail. */
	if (any && cplspank_can_mark())
		spank_job_control_setenv(sp, CPLSPANK_MARKS, "marked", 1);
	return cplspank_export(sp);
}
