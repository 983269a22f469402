/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the policies share: units of a level of the machine (routers, chassis,
 * groups, planes of a torus) in some order, and the rule for required nodes.
 */
#ifndef CPL_PLACEMENT_PLACEMENT_INTERNAL_H
#define CPL_PLACEMENT_PLACEMENT_INTERNAL_H

#include "placement/placement.h"

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
 * Units of a level in random order, wholly free ones before partly free ones,
 * the free nodes of a unit in id order; required nodes by the rule above.
 * level NULL: each node for itself. stream keeps the draws of different
 * policies apart. O(n_nodes).
 */
int cpl_placement_random_units(const struct cpl_placement_request *req,
                               const struct cpl_level *level, uint64_t stream,
                               int *out, struct cpl_error *err);

/*
 * Units from consecutive domains, cyclic from domain 0: each turn takes the
 * domain's first unit that is left, a domain with none left is skipped. Wholly
 * free units are handed out before the first partly free one. units NULL: each
 * node for itself. Required nodes by the rule above. O(n_nodes).
 */
int cpl_placement_round_robin(const struct cpl_placement_request *req,
                              const struct cpl_level *domains,
                              const struct cpl_level *units, int *out,
                              struct cpl_error *err);

#endif
