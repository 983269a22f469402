/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CPL_PLACEMENT_TRAFFIC_SEARCH_H
#define CPL_PLACEMENT_TRAFFIC_SEARCH_H

#include "placement/decide.h"

/*
 * Policy "traffic": improve node[] (n_nodes_wanted, a valid answer to the
 * request) in place by exchanging a node for a free one or swapping two hosts;
 * `hosts` is the traffic between them. Those hosts move whose traffic crosses
 * the busiest link (mean-congestion and hop-bytes: that cause most hop-bytes),
 * to free nodes near their partners and to nodes drawn from the seed. The
 * objective's first number never gets worse on the way; for max-congestion the
 * mean may, so the caller compares the end with the start. Required nodes stay
 * in the set. The work has a fixed limit that does not depend on the machine's
 * speed; *cut_short is set when the budget ended it before. Where the routing
 * has no add, the steps are judged by the minimal routing. 0, or -1 with err
 * (memory). O(limit).
 */
int cpl_traffic_search(const struct cpl_decide_request *req,
                       const struct cpl_comm *hosts, int *node, bool *cut_short,
                       struct cpl_error *err);

#endif
