/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `commplace config`. */
#ifndef CPL_CMD_CONFIG_H
#define CPL_CMD_CONFIG_H

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

/* Both take a check that succeeded. */
json_t *site_check_json(const struct site_check *check);
int site_check_print(const struct site_check *check);

#endif
