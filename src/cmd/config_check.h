/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `commplace config`. */
#ifndef CPL_CMD_CONFIG_CHECK_H
#define CPL_CMD_CONFIG_CHECK_H

#include "cmd.h"
#include "routing/routing.h"
#include "site/config.h"

struct site_profile {
	char *name;
	int ranks, n_phases;
};

/* The configuration and what it names, all loaded. */
struct site_check {
	const struct cmd *self; /* for messages */
	int n_problems;
	struct cpl_config *config;
	struct cpl_network *net;
	const struct cpl_routing *routing;
	int n_hosts; /* ports with a node */
	int n_profiles;
	struct site_profile *profile;
};

/*
 * Load and check; path NULL: the site's own; slurm_nodes may be NULL. Every
 * problem is a line on stderr. Where slurm.conf can be read (beside the
 * configuration, or $SLURM_CONF), partitions and the owner of StateDir are
 * compared with it. 0, or -1: there are problems. *check is overwritten and to
 * be freed in both cases.
 */
int site_check(struct site_check *check, const struct cmd *self,
               const char *path, const char *slurm_nodes);
void site_check_free(struct site_check *check);

/* Both take a check that succeeded. */
json_t *site_check_json(const struct site_check *check);
int site_check_print(const struct site_check *check);

#endif
