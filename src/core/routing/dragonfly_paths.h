/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths inside a group, which all dragonfly routings use. */
#pragma once

#include "network/dragonfly/dragonfly.h"
#include "routing/routing.h"

/* The most links that a direct path has inside both groups. */
#define CPL_MAX_LOCAL_HOPS 4

/* The links between two routers of a group: 0, 1 or 2. */
static inline int cpl_local_hops(const struct cpl_dragonfly *df, int from,
                                 int to)
{
	return (from / df->columns != to / df->columns) +
	       (from % df->columns != to % df->columns);
}

/* The number of shortest paths of so many links; two go over either corner. */
static inline int cpl_local_paths(int hops)
{
	return hops == 2 ? 2 : 1;
}

/* A router of a dragonfly; local is its number in its group. */
struct cpl_where {
	int router, group, local, row, column;
};

static inline struct cpl_where cpl_where_in(const struct cpl_dragonfly *df,
                                            int group, int router)
{
	struct cpl_where w = {.router = router, .group = group};

	w.local = router - group * df->routers_per_group;
	w.row = df->row_of[w.local];
	w.column = w.local - w.row * df->columns;
	return w;
}

static inline struct cpl_where cpl_where(const struct cpl_dragonfly *df,
                                         int router)
{
	return cpl_where_in(
	        df, (int)((unsigned)router / (unsigned)df->routers_per_group),
	        router);
}

/* Up to 64 links from a router's group to another, one bit each: links on the
 * router itself, at one link from it, and at two. */
struct cpl_gateways {
	uint64_t at[3];
};

/* The gateways for links from 64 * word on. O(1), or O(K) without
 * rows_columns. */
static inline struct cpl_gateways cpl_gateways(const struct cpl_network *net,
                                               const struct cpl_where *near,
                                               int group, int word)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int64_t first = cpl_dragonfly_global(net, near->group, group, 0);
	int n = df->global_per_pair - 64 * word;
	uint64_t all = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
	uint64_t row = 0, column = 0;

	if (df->rows_columns) {
		const uint64_t *line =
		        df->rows_columns +
		        cpl_wires_pair(df->groups, near->group, group) *
		                df->words * (df->rows + df->columns) +
		        (int64_t)word * (df->rows + df->columns);

		row = line[near->row];
		column = line[df->rows + near->column];
	} else {
		const int *gateway = df->gateway + first + 64 * (int64_t)word;
		int base = near->group * df->routers_per_group;

		for (int k = 0; k < n && k < 64; k++) {
			int local = gateway[k] - base, on = df->row_of[local];

			row |= (uint64_t)(on == near->row) << k;
			column |= (uint64_t)(local - on * df->columns ==
			                     near->column)
			          << k;
		}
	}
	return (struct cpl_gateways){
	        {row & column, row ^ column, all & ~(row | column)}};
}

/* The links on shortest paths, out of up to 64 between two groups; each in
 * `twice` has twice as many paths as each in `once`. */
struct cpl_shortest {
	uint64_t once, twice;
	int hops; /* without the link itself */
	int paths; /* once + 2 * twice */
};

static inline struct cpl_shortest cpl_shortest(const struct cpl_gateways *near,
                                               const struct cpl_gateways *far)
{
	const uint64_t *n = near->at, *f = far->at;
	struct cpl_shortest s = {.once = n[0] & f[0]};

	if (!s.once) {
		s.once = (n[0] & f[1]) | (n[1] & f[0]);
		s.hops = 1;
	}
	if (!s.once) {
		s.once = n[1] & f[1];
		s.twice = (n[0] & f[2]) | (n[2] & f[0]);
		s.hops = 2;
	}
	if (!(s.once | s.twice)) {
		s.once = (n[1] & f[2]) | (n[2] & f[1]);
		s.hops = 3;
	}
	if (!(s.once | s.twice)) {
		s.once = n[2] & f[2];
		s.hops = 4;
	}
	s.paths = __builtin_popcountll(s.once) +
	          2 * __builtin_popcountll(s.twice);
	return s;
}

/* Adds bytes to load[], evenly over the shortest paths inside a group. O(1). */
void cpl_local_add(const struct cpl_network *net, int from, int to,
                   double bytes, double *load);
void cpl_local_add_at(const struct cpl_network *net, const struct cpl_where *a,
                      const struct cpl_where *b, double bytes, double *load);

/* Does static-direct's add, and returns the shortest path's links. O(K). */
int cpl_direct_add(const struct cpl_network *net, int from, int to,
                   double bytes, double *load);

/* static-indirect-sampled sends so many packets for a pair of routers. */
#define CPL_SAMPLED_PACKETS 64

/* Its add with the caller's number of packets. O(packets * (K + hops)). */
void cpl_static_indirect_sample(const struct cpl_network *net, int from, int to,
                                double bytes, int packets, double *load);
