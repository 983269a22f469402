/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappers share the swap refinement, and orders to fall back on. */
#pragma once

#include "graph/arena.h"
#include "graph/partition.h"
#include "mapping/mapping.h"
#include "traffic/distance.h"

/* Swaps ranks of equal weight between hosts while that lowers the hop-bytes;
 * each rank in turn tries the hosts that suit it best. It stops after a pass
 * without gain, a fixed amount of work, or when the budget is spent. Returns 0,
 * or -1 with err (memory; rank_host is then still valid). */
int cpl_map_refine(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err);

/* Relieves the busiest link, or cable of a node, by swaps that lower its load:
 * of ranks on it with ranks on the hosts of their partners. It does so where
 * the paths between the job's routers are not too many (bundles.h), for a fixed
 * amount of work. Where block order by switches is still less busy, it tries
 * the same from there, so that the result is never busier than that order.
 * Returns 0, or -1 with err (memory). */
int cpl_map_repair(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err);

/* GreedyALLC as in its paper, for searches that go on from there; see map(). */
int cpl_map_greedyallc(const struct cpl_map_request *req, int *rank_host,
                       struct cpl_error *err);

/* GreedyALLC that starts on the host farthest from all slots (a corner of a
 * mesh), ties to the first in the list; see map(). */
int cpl_map_greedyallc_corner(const struct cpl_map_request *req, int *rank_host,
                              struct cpl_error *err);

/* The graph of all routers, also those without nodes of the job, by their links
 * in both directions; bytes are the bandwidth. NULL with err (memory).
 * O(links). */
struct cpl_comm *cpl_map_router_graph(const struct cpl_network *net,
                                      struct cpl_error *err);

/* A graph that says which of n hosts are side by side; vertex i is host[i], an
 * index into req->host. Hosts of one router are joined to the first of them,
 * and these by the links of their routers. Routers without any of the hosts
 * count as part of the nearest router that has some. Entries are bandwidth,
 * less the more links are in between, in both directions. NULL with err
 * (memory). O(links + n). */
struct cpl_comm *cpl_map_host_graph(const struct cpl_map_request *req,
                                    const int *host, int n,
                                    struct cpl_error *err);

/* Items to sort by their keys, ties to the lowest item. */
struct cpl_keyed {
	uint64_t key;
	int item;
};
void cpl_keyed_sort(struct cpl_keyed *keyed, int n);

/* The position on a Hilbert curve of a grid's cell; the first dimension is the
 * fastest. Dimensions too long for the key lose their lowest bits. */
uint64_t cpl_map_curve_key(int cell, const int *dim, int n_dims);

/* Checks that weights are positive and that ranks of such weights fit the slots
 * in rank order, each on the first host where it fits, or else the heaviest
 * first. Returns 0, or -1 with err. */
int cpl_map_check_weights(const struct cpl_map_request *req,
                          struct cpl_error *err);

/* The default order, with weights and spare slots as above; it is block order
 * where each rank weighs one slot. Returns 0, or -1 with err, in O(ranks *
 * hosts) at worst. */
int cpl_map_default_order(const struct cpl_map_request *req, int *rank_host,
                          struct cpl_error *err);

/* Block order on the hosts by their nodes, hence switch by switch. Returns 1;
 * or 0 where that is the default order or where ranks of different weights fit
 * the slots in the hosts' own order only; or -1 with err. O(ranks + hosts log
 * hosts). */
int cpl_map_switch_order(const struct cpl_map_request *req, int *rank_host,
                         struct cpl_error *err);
