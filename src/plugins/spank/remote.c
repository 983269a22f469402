/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In slurmstepd, as root: no file is opened here. */
#include "spank_internal.h"

#include <string.h>

int cplspank_remote_init(spank_t sp)
{
	return cplspank_register(sp);
}

int cplspank_remote_post_opt(spank_t sp)
{
	/* With --export=NONE the variables did not come along. */
	for (int i = 0; i < CPLSPANK_COUNT; i++) {
		const struct cplspank_option *o = &cplspank_option[i];

		if (!*o->value || !strcmp(o->value, CPL_PROFILE_NONE))
			continue;
		if (spank_setenv(sp, o->variable, o->value, 1) !=
		    ESPANK_SUCCESS)
			slurm_debug("commplace: cannot set %s", o->variable);
	}
	return 0;
}
