/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link list of a Cray XC, as it was read. */
#pragma once

#include "network/reader/reader_internal.h"

#define CPL_ARIES_DIMS 3

/* Bytes/s per direction of a tile's cable, green or black and blue, and of a
 * node (Faanes et al., "Cray Cascade: a scalable HPC system based on a
 * Dragonfly network", 2012). */
#define CPL_ARIES_ELECTRICAL 5.25e9
#define CPL_ARIES_OPTICAL 4.7e9
#define CPL_ARIES_INJECTION 16e9

struct cpl_aries_tile {
	int at[CPL_ARIES_DIMS]; /* group, row, column */
};

struct cpl_aries_link {
	struct cpl_aries_tile from, to;
	int from_router, to_router;
	int class; /* -1: leads to no router */
	int line;
};

struct cpl_aries_list {
	struct cpl_aries_link *item;
	int n;
	struct cpl_aries_tile *router; /* [n_routers] by group, row, column */
	int n_routers;
};

/*
 * The list as a dragonfly in draft->description where it is regular: groups of
 * the same rows and columns, equally many cables both ways between each two
 * routers of a row, of a column, and between each two groups, nothing else.
 * Else draft->why says why not. hosts in the order of node ids. 0, or -1 with
 * err. O(links log links).
 */
int cpl_aries_dragonfly(const struct cpl_lines *in,
                        const struct cpl_network_import *how,
                        const struct cpl_aries_list *list,
                        const struct cpl_hostlist *hosts,
                        struct cpl_draft *draft);
