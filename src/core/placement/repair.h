/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job runs again, and most of the nodes of its run before are free: its ranks stay
 * where they were, and those of nodes that are gone move to the free nodes where the
 * job costs least (mapping/replace.h), if that is little worse than a fresh plan.
 */
#pragma once

#include "placement/decide.h"

/* No more nodes than that are replaced; where more are gone there is little to keep. */
#define CPL_REPAIR_GONE 4
/* How much worse than the fresh plan it may be, in parts of that. */
#define CPL_REPAIR_WORSE 0.02

/* The layout of the run before. */
struct cpl_former {
	int n_nodes, ranks;
	const int *node;      /* [n_nodes] */
	const int *rank_host; /* [ranks] index into node */
	uint64_t serial;      /* the same number: the same layout */
};

/*
 * With req->former, and a decision: adds a candidate "repair" and takes it, or leaves
 * the decision as it is where it is worse by more than CPL_REPAIR_WORSE, by what the
 * decision went by: the objective, also of candidates as a whole, and the routing that
 * the network states where the fresh plan was judged by that. What replaces a node keeps
 * the job within its bounds, and breaks no more of the units that are to be kept whole
 * than the fresh plan. It is not judged where a policy other than a search is
 * asked for, where the run before or no free node is within the bounds, where it lacks
 * required nodes or a wish that the fresh plan has, or breaks more such units,
 * where rank orders do not surely arrive, where more nodes than CPL_REPAIR_GONE or all
 * are gone, and where the decision was cut short or that is more work than it may
 * take. 0, or -1 with err (memory). Cost as
 * cpl_replace_hosts.
 */
int cpl_repair(const struct cpl_decide_request *req, struct cpl_decision *out,
               struct cpl_error *err);
