/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link-traffic model of one job while single ranks, or all ranks of a node,
 * change places: what they send and receive is taken off the links of their old
 * routes and put on those of their new ones.
 *
 * Bytes are held in whole fixed-point units, so that they add up without
 * rounding: the state depends on the layout alone, whatever the moves that led
 * to it, and nothing drifts. A unit is at most 2^-60 of the job's bytes.
 */
#ifndef CPL_TRAFFIC_INCREMENTAL_H
#define CPL_TRAFFIC_INCREMENTAL_H

#include "traffic/load_tree.h"
#include "traffic/traffic.h"

struct cpl_incremental;

/*
 * Start from rank r on node rank_node[r], with background (may be NULL) on the
 * links. net, comm and background have to outlive the result; rank_node is
 * copied. The routing has to have add: under one that finds the paths of all
 * pairs together a move can change every link (static-indirect: each router
 * sends to all others), and cpl_routing_by_pairs() stands in. NULL with err (no
 * add; memory). O(entries + routes + links).
 */
struct cpl_incremental *cpl_incremental_new(const struct cpl_network *net,
                                            const struct cpl_routing *routing,
                                            const struct cpl_comm *comm,
                                            const int *rank_node,
                                            const struct cpl_load *background,
                                            struct cpl_error *err);
void cpl_incremental_free(struct cpl_incremental *inc);

/*
 * Changes. Several may follow each other; they are tentative until kept or
 * undone. O(entries of the ranks' rows and columns + their router pairs *
 * route). No allocation.
 */
void cpl_incremental_move(struct cpl_incremental *inc, int rank, int node);
void cpl_incremental_swap(struct cpl_incremental *inc, int a, int b);
/* All ranks of node a go to node b, and those of b to a. */
void cpl_incremental_exchange(struct cpl_incremental *inc, int a, int b);

/* Keep all changes since the last of these two; or go back to then, to the
 * bit. O(ranks, links and nodes that changed). */
void cpl_incremental_keep(struct cpl_incremental *inc);
void cpl_incremental_undo(struct cpl_incremental *inc);

/* Where the ranks are now: [ranks]. */
const int *cpl_incremental_nodes(const struct cpl_incremental *inc);

/*
 * What cpl_traffic_metrics and cpl_traffic_add say of the layout, to 1e-9
 * relative, max_dilation exactly. O(links and nodes that changed * log of all),
 * sums O(links by which the longest way got shorter).
 */
void cpl_incremental_metrics(struct cpl_incremental *inc,
                             struct cpl_metrics *out);
void cpl_incremental_sums(struct cpl_incremental *inc,
                          struct cpl_job_sums *out);

/* Congestion of the links: summary, the most congested link (ties to the
 * lowest id, -1 on a network without), and one of them. */
const struct cpl_load_summary *
cpl_incremental_links(struct cpl_incremental *inc);
int64_t cpl_incremental_busiest(struct cpl_incremental *inc);
double cpl_incremental_congestion(const struct cpl_incremental *inc,
                                  int64_t link);

#endif
