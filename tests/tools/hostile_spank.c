/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user can load into sbatch in place of spank_commplace.so, by a
 * slurm.conf of his own: HOSTILE_NAME=VALUE of the environment goes to slurmctld as
 * the option NAME, unchecked.
 */
#include <slurm/spank.h>
#include <string.h>

extern char **environ;

SPANK_PLUGIN(hostile, 1)

int slurm_spank_init_post_opt(spank_t sp, int argc, char **argv)
{
	static const char prefix[] = "HOSTILE_";
	char name[64];

	(void)argc;
	(void)argv;
	for (char **e = environ; *e; e++) {
		const char *at = *e + sizeof(prefix) - 1, *value;

		if (strncmp(*e, prefix, sizeof(prefix) - 1))
			continue;
		value = strchr(at, '=');
		if (!value || (size_t)(value - at) >= sizeof(name))
			continue;
		memcpy(name, at, (size_t)(value - at));
		name[value - at] = '\0';
		spank_job_control_setenv(sp, name, value + 1, 1);
	}
	return 0;
}
