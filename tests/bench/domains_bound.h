/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that a job's ranks exchange between domains wherever they are put. */
#pragma once

#include "graph/rank_grid.h"

struct domains {
	const struct cpl_comm *comm;
	const struct cpl_rank_grid *grid; /* of comm's ranks; its axes are used */
	int n;
	const int *room; /* [n] ranks that a domain has room for */
	int multiple;    /* a domain's ranks are a multiple of it; 1: any number */
};

/*
 * No assignment of ranks to domains with room for them sends less between domains
 * than *bytes. Returns 0, or -1 with err (memory; less room than ranks). O(orders of
 * the axes * ranks * room * (length + room)^2) or so: for hundreds of ranks.
 */
int domains_bound(const struct domains *how, double *bytes, struct cpl_error *err);
