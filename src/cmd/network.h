/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace network import`. */
#ifndef CPL_CMD_NETWORK_H
#define CPL_CMD_NETWORK_H

#include "base/error.h"

/* Texts of the command line; NULL or 0: not given. */
struct cmd_import {
	const char *path, *format, *output;
	const char *name, *routes, *nodes;
	int nodes_per_router;
};

/* Read the files, write the description (and the routing table beside it).
 * 0, or -1 with err; then nothing is left. */
int cmd_network_import(const struct cmd_import *in, struct cpl_error *err);

#endif
