/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In slurmstepd, as root: no file is opened here. */
#include "spank_internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int cplspank_remote_init(spank_t sp)
{
	return cplspank_register(sp);
}

/*
 * With --export=NONE neither the variables nor the options themselves reach a
 * batch script; Slurm's SLURM_SPANK_ copy of what was set for slurmctld does.
 */
static bool from_copy(spank_t sp, const struct cplspank_option *o, char *value,
                      int size)
{
	struct cpl_error err;
	char name[64];

	snprintf(name, sizeof(name), "SLURM_SPANK_%s", o->variable);
	return spank_getenv(sp, name, value, size) == ESPANK_SUCCESS &&
	       !o->check(value, &err);
}

int cplspank_remote_post_opt(spank_t sp)
{
	for (int i = 0; i < CPLSPANK_COUNT; i++) {
		const struct cplspank_option *o = &cplspank_option[i];
		char copy[sizeof(o->value)];
		const char *value = o->value;

		if (!*value && from_copy(sp, o, copy, sizeof(copy)))
			value = copy;
		if (!*value || !strcmp(value, CPL_PROFILE_NONE))
			continue;
		/* A given option wins over what the environment holds. */
		if (spank_setenv(sp, o->variable, value, value == o->value) !=
		    ESPANK_SUCCESS)
			slurm_debug("commplace: %s is left as it is",
			            o->variable);
	}
	return 0;
}
