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
void cpl_distance_free(struct cpl_distance *distance);

/*
 * Swap ranks between hosts while that lowers the hop-bytes of req->graph:
 * ranks in order, each tries the hosts that suit it best. Stops after a pass
 * without gain, a fixed amount of work, or when the budget is spent. 0, or -1
 * with err (memory; rank_host is then still valid). O(work limit).
 */
int cpl_map_refine(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err);

#endif
