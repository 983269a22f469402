/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CPL_TRAFFIC_TRAFFIC_INTERNAL_H
#define CPL_TRAFFIC_TRAFFIC_INTERNAL_H

#include "traffic/traffic.h"

/*
 * cpl_traffic_add up to the routing: what the job's routers send each other,
 * which stays work's; injection, ejection and the sums that no routing changes
 * are added to load and sums. For networks with routings that need all pairs
 * together. O(entries).
 */
const struct cpl_pairs *cpl_traffic_pairs(const struct cpl_network *net,
                                          const struct cpl_comm *comm,
                                          const int *rank_node,
                                          struct cpl_traffic_work *work,
                                          struct cpl_load *load,
                                          struct cpl_job_sums *sums);

#endif
