/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `commplace config check` and `doctor` have to know of slurm.conf. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* Keys whose values are kept. */
enum slurm_key {
	SLURM_USER,
	SLURM_SELECT,
	SLURM_TASK,
	SLURM_SWITCH,
	SLURM_JOB_SUBMIT,
	SLURM_PLUGIN_DIR,
	SLURM_PLUGSTACK,
	SLURM_STORE_FLAGS,
	SLURM_KEYS
};

/* "SelectType" ... */
const char *slurm_key_name(enum slurm_key key);

struct slurm_conf {
	char *path;
	bool is_read; /* false: nothing is known but the path */
	char *value[SLURM_KEYS]; /* NULL: not set */
	char **partition;
	int n_partitions;
};

/*
 * Read $SLURM_CONF, else slurm.conf next to commplace_conf, else that of this
 * host (slurm_search.h), with the files that it includes from its folder; where
 * slurmctld alone has it, what scontrol says of it. NULL without memory.
 */
struct slurm_conf *slurm_conf_load(const char *commplace_conf);
/* The same as the slurmctld that runs has it, without a path. NULL with err. */
struct slurm_conf *slurm_conf_running(struct cpl_error *err);
void slurm_conf_free(struct slurm_conf *conf);
