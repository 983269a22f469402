/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cmd.h"
#include "network/against.h"

struct network_against {
	const char *path; /* of the network, for messages */
	/* Files of what scontrol prints; NULL: it is run. */
	const char *nodes, *topology;
	const char *name; /* of one of Slurm's topologies; NULL: the default */
	bool json;
};

/* What a comparison takes, for network_compared_release in either case. */
struct network_compared {
	struct cpl_slurm_view view;
	struct cpl_against against;
};

/* Compare. 0, or -1 with err. */
int network_compare(const struct cpl_network *net,
                    const struct network_against *o,
                    struct network_compared *out, struct cpl_error *err);
void network_compared_release(struct network_compared *c);

/* Compare and print. An exit code: CMD_FAILED where they differ. */
int network_against_slurm(const struct cmd *self,
                          const struct cpl_network *net,
                          const struct network_against *o);
