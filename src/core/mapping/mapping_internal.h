/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the mappers share: distances between the hosts at hand, and the swap
 * refinement.
 */
#ifndef CPL_MAPPING_MAPPING_INTERNAL_H
#define CPL_MAPPING_MAPPING_INTERNAL_H

#include "mapping/mapping.h"

/*
 * Hops between the distinct routers of a host list ("spots", numbered by first
 * appearance; hosts of one router share one). Rows are made when first asked
 * for and kept in a cache of bounded size. Hops are taken to be the same both
 * ways, as they are for every routing here.
 */
struct cpl_distance {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	int n_spots;
	int *spot;   /* [n_hosts] spot of a host */
	int *router; /* [n_spots] router id */
	int n_rows;  /* rows the cache holds */
	int *row_of; /* [n_rows] spot whose row is there, -1: none */
	float *row;  /* [n_rows * n_spots] */
	/* Torus: hops add up over dimensions, so one small table per
	 * dimension and the spots' coordinates make a row cheap. */
	float *table[CPL_NETWORK_MAX_DIMS]; /* [dim * dim] */
	unsigned short *coordinate;         /* [n_dims * n_spots] */
};

/* 0, or -1 with err (memory). O(hosts + routers). */
int cpl_distance_init(struct cpl_distance *distance,
                      const struct cpl_network *net,
                      const struct cpl_routing *routing, const int *host,
                      int n_hosts, struct cpl_error *err);
/* Hops from a spot to every spot, valid until the next call with a spot that
 * shares the cache line. O(1) when cached, else O(n_spots) hop counts. */
const float *cpl_distance_row(struct cpl_distance *distance, int spot);
/* Hops between two spots. O(dimensions) on a torus, else as the row. */
double cpl_distance_between(struct cpl_distance *distance, int a, int b);
/*
 * sum[i] = hops from spot i to all spots, weighted. Only where hops add up over
 * dimensions: false elsewhere, sum is then as it was. weight may not be sum.
 * O(n_spots * dimensions + their squares).
 */
bool cpl_distance_sums(const struct cpl_distance *distance,
                       const double *weight, double *sum);
void cpl_distance_free(struct cpl_distance *distance);

/*
 * Swap ranks (of equal weight) between hosts while that lowers the hop-bytes of
 * req->graph: ranks in order, each tries the hosts that suit it best. Stops after a pass
 * without gain, a fixed amount of work, or when the budget is spent. 0, or -1
 * with err (memory; rank_host is then still valid). O(work limit).
 */
int cpl_map_refine(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err);

/* GreedyALLC that starts on the host farthest from all slots, ties to the first
 * in the list: a corner of a mesh. As a mapper's map(). */
int cpl_map_greedyallc_corner(const struct cpl_map_request *req, int *rank_host,
                              struct cpl_error *err);

/*
 * Two halves of a graph with little traffic between them: side[rank] = 0 for
 * exactly n_left ranks, 1 for the others. Multilevel: heavy-edge matching,
 * greedy graph growing, Fiduccia-Mattheyses at every level (Karypis, Kumar,
 * SIAM J. Sci. Comput. 20(1), 1998; Fiduccia, Mattheyses, DAC 1982). graph is
 * a cpl_comm_symmetric (or a cpl_comm_subset of one), 0 <= n_left <= ranks.
 * The same seed gives the same answer. expired (may be NULL) is asked between
 * levels and passes; once it says true the best halves so far are taken, or the
 * ranks in order. 0, or -1 with err (memory). O(entries * log(ranks)) in
 * practice.
 */
int cpl_map_bisect(const struct cpl_comm *graph, int n_left, uint64_t seed,
                   bool (*expired)(void *arg), void *expired_arg,
                   unsigned char *side, struct cpl_error *err);

/* The same by so many multilevel runs, of which the best is kept. */
#define CPL_MAP_BISECT_RUNS 4
int cpl_map_bisect_runs(const struct cpl_comm *graph, int n_left, uint64_t seed,
                        int runs, bool (*expired)(void *arg), void *expired_arg,
                        unsigned char *side, struct cpl_error *err);

/*
 * n_parts parts of exactly slots[i] ranks (0 is allowed; the sum must be the
 * ranks) with heavy traffic inside: part[rank] = part. By recursive bisection
 * of the parts in their order, so that neighbouring part numbers talk more
 * than far ones, then swaps between parts that lower the traffic cut. Same
 * conditions as cpl_map_bisect, expired too; once it says true the rest is
 * split in rank order.
 * O(entries * log(ranks) * log(n_parts)).
 */
int cpl_map_partition(const struct cpl_comm *graph, const int *slots,
                      int n_parts, uint64_t seed, bool (*expired)(void *arg),
                      void *expired_arg, int *part, struct cpl_error *err);

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

/*
 * Weights positive, and ranks of such weights fit the slots in rank order, each
 * on the first host with room, or the heaviest first? 0, or -1 with err.
 */
int cpl_map_check_weights(const struct cpl_map_request *req,
                          struct cpl_error *err);

/* The default order with weights and spare slots: as above; block order where
 * ranks weigh one slot each. 0, or -1 with err. O(ranks * hosts) at worst. */
int cpl_map_default_order(const struct cpl_map_request *req, int *rank_host,
                          struct cpl_error *err);

#endif
