/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link loads that change by single flows, with the sums of the hybrid metric
 * (Mirsadeghi, Afsahi: PTRAM, eq 3) kept up to date. Changes are tentative
 * until they are kept or dropped.
 */
#ifndef CPL_MAPPING_LINK_SUMS_H
#define CPL_MAPPING_LINK_SUMS_H

#include "mapping/mapping.h"

struct cpl_link_sums {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	double *load;      /* [n_links] congestion: bytes / bandwidth */
	double hop_bytes;
	double max, sum, squares; /* of load */
	int64_t used;             /* links with load */

	/* Reference of the hybrid metric; a term with 0 is left out. */
	struct cpl_metrics metrics0;
	double hop_bytes0;

	/* The tentative part. */
	double *change;    /* [n_links], 0 where not touched */
	bool *touched;     /* [n_links] */
	int *list;         /* [n_list] touched links */
	int n_list;
	double more_hop_bytes;

	/* Routes found so far: row of the source's number, column of the
	 * destination's, index of route[] or -1; NULL: too many routers, or
	 * the routing lists its routes as fast as they are looked up. */
	int64_t *known;    /* [n_known * n_known] */
	int n_known;
	int *number;       /* [n_routers] of the request's routers, or -1 */
	struct cpl_share *route; /* a length in .link, then the links */
	int64_t n_route, route_max;
	bool failed;       /* memory ran out: sums are no longer right */

	struct cpl_route_finder finder;
	/* Links from the most loaded down, made when asked for. */
	int *ranking;      /* [n_links] */
	bool ranked;
	bool view; /* load and number are another's */
};

/*
 * No flows yet, but the request's background. The reference is the default
 * order of the request's ranks. A routing that finds all paths together is
 * stood in for by cpl_routing_by_pairs. 0, or -1 with err (memory).
 * O(entries + links).
 */
int cpl_link_sums_init(struct cpl_link_sums *sums,
		       const struct cpl_map_request *req,
		       struct cpl_error *err);
void cpl_link_sums_free(struct cpl_link_sums *sums);

/*
 * The same loads with a tentative part and routes of their own, for one more
 * thread: flows, the hybrid metric and drop only. It is to be freed before
 * `sums`. 0, or -1 with err (memory). O(links).
 */
int cpl_link_sums_view(const struct cpl_link_sums *sums,
		       struct cpl_link_sums *view, struct cpl_error *err);
/* See what sums kept since. O(1). */
void cpl_link_sums_follow(struct cpl_link_sums *view,
			  const struct cpl_link_sums *sums);

/* Tentatively add a flow between nodes; bytes < 0 takes one away. O(route),
 * and O(links of its routers) when a pair of routers comes first. */
void cpl_link_sums_flow(struct cpl_link_sums *sums, int from_node, int to_node,
			double bytes);

/* The hybrid metric with what is tentative: HB/HB0 + MC/MC0 + NZCA/NZCA0 +
 * NZCV/NZCV0; loads must have grown only. O(touched links). */
double cpl_link_sums_hybrid(const struct cpl_link_sums *sums);

/* Largest congestion with what is tentative. O(touched links), and O(links log
 * links) for the first after changes were kept. */
double cpl_link_sums_max(struct cpl_link_sums *sums);

/* The most congested link without what is tentative, ties to the lowest id;
 * -1 on a network without links. */
int cpl_link_sums_hottest(struct cpl_link_sums *sums);

/* Does the route between two nodes use the link? */
bool cpl_link_sums_uses(struct cpl_link_sums *sums, int from_node, int to_node,
			int link);

void cpl_link_sums_keep(struct cpl_link_sums *sums);
void cpl_link_sums_drop(struct cpl_link_sums *sums);

#endif
