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
	struct cpl_config *config;
	struct cpl_network *net;
	const struct cpl_routing *routing;
	int n_hosts; /* ports with a node */
	int n_profiles;
	struct site_profile *profile;
};

/*
 * Load and check; path NULL: the site's own; slurm_nodes may be NULL. Goes on
 * after a bad profile to count them. 0, or -1 with err: the first problem.
 * *check is overwritten and to be freed in both cases.
 */
int site_check(struct site_check *check, const char *path,
               const char *slurm_nodes, struct cpl_error *err);
void site_check_free(struct site_check *check);

/* Both take a check that succeeded. */
json_t *site_check_json(const struct site_check *check);
int site_check_print(const struct site_check *check);

#endif
