/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lies between nodes of a network, as transfer times are told apart. */
#pragma once

#include "network/network.h"

/* The group of a node's first router: its unit of the coarsest level, where
 * units of that have several routers; else 0, one for all. */
int cmd_group_of(const struct cpl_network *net, int node);
