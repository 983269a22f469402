/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the policies share: rooms of the machine as runs of consecutive node
 * ids (router, chassis, group, torus plane), and the rule for required nodes.
 */
#ifndef CPL_PLACEMENT_PLACEMENT_INTERNAL_H
#define CPL_PLACEMENT_PLACEMENT_INTERNAL_H

#include "placement/placement.h"

#define CPL_TYPE_DRAGONFLY (1U << CPL_NETWORK_DRAGONFLY)
#define CPL_TYPE_TORUS (1U << CPL_NETWORK_TORUS)
/* Fat tree and graph: rooms are the routers. */
#define CPL_TYPE_SWITCHED \
	(1U << CPL_NETWORK_FATTREE | 1U << CPL_NETWORK_GRAPH)
#define CPL_TYPE_HAEC (1U << CPL_NETWORK_HAEC)
#define CPL_TYPE_ANY \
	(CPL_TYPE_DRAGONFLY | CPL_TYPE_TORUS | CPL_TYPE_SWITCHED | \
	 CPL_TYPE_HAEC)

/*
 * The rule for required nodes, the same for every policy. Policies choose as
 * if nothing were required. Let m required nodes be missing from out: the last
 * m chosen nodes that are not required are dropped, and the missing ones take
 * their positions in increasing id order; all others keep their place in rank
 * order. 0, or -1 with err. O(n_nodes).
 */
int cpl_placement_require(const struct cpl_placement_request *req, int *out,
                          struct cpl_error *err);

/*
 * Number of free nodes of the unit [first, first + size); *whole tells whether
 * no node of it is taken (ports without a node do not count). O(size).
 */
int cpl_placement_unit_free(const struct cpl_placement_request *req, int first,
                            int size, bool *whole);

/*
 * Units of `size` consecutive nodes in random order, wholly free ones before
 * partly free ones, the free nodes of a unit in id order; required nodes by
 * the rule above. stream keeps the draws of different policies apart.
 * O(n_nodes).
 */
int cpl_placement_random_units(const struct cpl_placement_request *req,
                               int size, uint64_t stream, int *out,
                               struct cpl_error *err);

/*
 * Consecutive units of `size` nodes from consecutive rooms of `room` nodes,
 * cyclic from room 0: each turn takes the room's lowest unit that is left, a
 * room with none left is skipped. With size > 1, all wholly free units are
 * handed out before the first partly free one. Required nodes by the rule
 * above. O(n_nodes).
 */
int cpl_placement_round_robin(const struct cpl_placement_request *req, int room,
                              int size, int *out, struct cpl_error *err);

extern const struct cpl_placement_policy cpl_placement_linear,
        cpl_placement_random_nodes, cpl_placement_random_routers,
        cpl_placement_random_chassis, cpl_placement_random_groups,
        cpl_placement_round_robin_nodes, cpl_placement_round_robin_routers,
        cpl_placement_blocked;

#endif
