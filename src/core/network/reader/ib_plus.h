/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fabric as cells of leaves and spines. Private to ib_plus.c and
 * ib_plus_describe.c. */
#pragma once

#include "network/reader/reader_internal.h"

enum cpl_ib_role { CPL_IB_OTHER, CPL_IB_LEAF, CPL_IB_SPINE };

struct cpl_ib_fabric {
	struct cpl_draft *draft;
	enum cpl_ib_role *role; /* [routers] */
	int *root;       /* [routers] of its set of joined leaves and spines */
	int *cell;       /* [routers] */
	int *number;     /* [routers] among the leaves, or spines, of the cell */
	int cells;
	int *leaves, *spines; /* [cells] */
	int64_t *first;       /* [cells] pairs of leaf and spine before it */
	int64_t pairs;
	int *cables; /* [pairs] of a leaf and a spine */
	int *between; /* [cells * cells] spines' links from one to another */
	int p, k;    /* what most of these have */
	int *rows;   /* [cells * cells * k] draft links, a < b */
};

/* The description of a fabric that was recognised, into its draft. 0, or -1 with
 * err (memory). O(links + cells * (routers + cells * K)). */
int cpl_ib_plus_describe(struct cpl_ib_fabric *f,
                         const struct cpl_network_import *how);
