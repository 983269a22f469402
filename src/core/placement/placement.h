/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement policies: which free nodes a job gets, in rank order. One file per
 * policy, one line in the table of placement.c (Jain 2016, 3.2.3).
 */
#ifndef CPL_PLACEMENT_PLACEMENT_H
#define CPL_PLACEMENT_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"
#include "routing/routing.h"
#include "signature/comm.h"
#include "traffic/traffic.h"

struct cpl_placement_request {
	const struct cpl_network *net;
	const unsigned char *free; /* [n_nodes], 1: may be chosen */
	int n_nodes_wanted;        /* 1 .. number of free nodes */
	const int *required;       /* node ids that must be in the set; each is
				    * free; [n_required] */
	int n_required;            /* <= n_nodes_wanted */
	uint64_t seed;
};

struct cpl_placement_policy {
	const char *name;       /* "random-routers" */
	const char *short_name; /* "RDR" */
	unsigned types;         /* bit 1 << cpl_network_type */
	bool random;            /* depends on the seed */
	const char *summary;
	/*
	 * Write n_nodes_wanted distinct free node ids in rank order to out,
	 * required ones among them. 0, or -1 with err (memory). Policies are
	 * pure functions of the request. O(n_nodes log n_nodes) or better
	 * unless the file says otherwise.
	 */
	int (*place)(const struct cpl_placement_request *req, int *out,
		     struct cpl_error *err);
};

/*
 * Policy by long or short name for this network type, case-insensitive. NULL
 * with err listing the right names. "auto" and "traffic" are not in the table:
 * they are searches over it, see decide.h.
 */
const struct cpl_placement_policy *
cpl_placement_find(enum cpl_network_type type, const char *name,
		   struct cpl_error *err);

/* Is name a policy that cpl_decide takes on some network type, "auto" and
 * "traffic" included? For checks at submission. */
bool cpl_placement_name_known(const char *name);

/* The table, NULL-terminated. */
const struct cpl_placement_policy *const *cpl_placement_all(void);

#endif
