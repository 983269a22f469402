/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `commplace config check` has to know of slurm.conf. */
#ifndef CPL_CMD_SLURM_CONF_H
#define CPL_CMD_SLURM_CONF_H

#include <stdbool.h>

struct slurm_conf {
	char *path;
	bool is_read; /* false: nothing is known but the path */
	char *user; /* SlurmUser, NULL: not set */
	char **partition;
	int n_partitions;
};

/*
 * Read $SLURM_CONF, else slurm.conf next to commplace_conf, else that of this
 * host (slurm_search.h), with the files that it includes from its folder; where
 * slurmctld alone has it, what scontrol says of it. NULL without memory.
 */
struct slurm_conf *slurm_conf_load(const char *commplace_conf);
void slurm_conf_free(struct slurm_conf *conf);

#endif
