/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the mappers share: the swap refinement, and orders to fall back on. */
#ifndef CPL_MAPPING_MAPPING_INTERNAL_H
#define CPL_MAPPING_MAPPING_INTERNAL_H

#include "graph/arena.h"
#include "graph/partition.h"
#include "mapping/mapping.h"
#include "traffic/distance.h"

/* Swap ranks (of equal weight) between hosts while that lowers the hop-bytes:
 * ranks in order, each tries the hosts that suit it best. Stops after a pass
 * without gain, a fixed amount of work, or when the budget is spent. 0, or -1
 * with err (memory; rank_host is then still valid). */
int cpl_map_refine(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err);

/*
 * Relieve the busiest link or cable of a node: swaps that lower it, of ranks on
 * it with ranks on the hosts of their partners, as far as the paths between the
 * job's routers are not too many (bundles.h) and a fixed amount of work goes.
 * Where block order by switches is less busy then, the same from there: the
 * result is never busier than that. 0, or -1 with err (memory).
 */
int cpl_map_repair(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err);

/* GreedyALLC as in its paper, for searches that go on from there. As a mapper's
 * map(). */
int cpl_map_greedyallc(const struct cpl_map_request *req, int *rank_host,
                       struct cpl_error *err);

/* GreedyALLC that starts on the host farthest from all slots, ties to the first
 * in the list: a corner of a mesh. As a mapper's map(). */
int cpl_map_greedyallc_corner(const struct cpl_map_request *req, int *rank_host,
                              struct cpl_error *err);

/* All routers, those without nodes of the job too, and their links, both ways,
 * of which the bytes are the bandwidth. NULL with err (memory). O(links). */
struct cpl_comm *cpl_map_router_graph(const struct cpl_network *net,
                                      struct cpl_error *err);

/*
 * Which of n hosts (host[i], index into req->host, is the vertex i) are side by
 * side: those of one router hold on to its first one, these by the links of
 * their routers. Routers without any of the hosts go to the nearest router that
 * has some and join those whose neighbours they are. Entries are bandwidth, the
 * less the more links are in between; both ways. NULL with err (memory).
 * O(links + n).
 */
struct cpl_comm *cpl_map_host_graph(const struct cpl_map_request *req,
                                    const int *host, int n,
                                    struct cpl_error *err);

/* Sort items by their keys, ties to the lowest item. */
struct cpl_keyed {
	uint64_t key;
	int item;
};
void cpl_keyed_sort(struct cpl_keyed *keyed, int n);

/* Position on a Hilbert curve of a cell of a grid, the first dimension fastest.
 * Dimensions too long for the key lose their lowest bits. */
uint64_t cpl_map_curve_key(int cell, const int *dim, int n_dims);

/*
 * Are weights positive, and do ranks of such weights fit the slots in rank
 * order, each on the first host where it fits, or the heaviest first? 0, or -1
 * with err.
 */
int cpl_map_check_weights(const struct cpl_map_request *req,
                          struct cpl_error *err);

/* The default order with weights and spare slots: as above; block order where
 * ranks weigh one slot each. 0, or -1 with err. O(ranks * hosts) at worst. */
int cpl_map_default_order(const struct cpl_map_request *req, int *rank_host,
                          struct cpl_error *err);

/*
 * Block order on the hosts by their nodes, hence switch by switch. 1; 0: that is
 * the default order, or ranks of different weights fit the slots in the hosts'
 * own order only; -1 with err. O(ranks + hosts log hosts).
 */
int cpl_map_switch_order(const struct cpl_map_request *req, int *rank_host,
                         struct cpl_error *err);

#endif
