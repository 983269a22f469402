/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace network cost`. */
#pragma once

#include "cmd.h"
#include "network/cost.h"

#define NETWORK_MOST_SIMULATIONS 64

struct network_prices {
	double price[CPL_PRICES];
	/* What simulate --json wrote. */
	const char *simulation[NETWORK_MOST_SIMULATIONS];
	int n_simulations;
	bool given; /* a price or a simulation */
};

void network_cost_defaults(struct network_prices *prices);
/* --price NAME=VALUE of a table of options. */
int network_cost_take(const struct cmd *self, void *into, const char *option,
                      const char *value);
/* --performance FILE of such a table. */
int network_cost_performance(const struct cmd *self, void *into,
                             const char *option, const char *value);
/* Prints it. Returns an exit code. */
int network_cost(const struct cmd *self, const char *path,
                 const struct network_prices *prices, bool json);
