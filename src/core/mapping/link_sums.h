/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link loads that change by single flows (traffic/moves.h), with the sums of
 * the hybrid metric (Mirsadeghi, Afsahi: PTRAM, eq 3) kept up to date.
 */
#ifndef CPL_MAPPING_LINK_SUMS_H
#define CPL_MAPPING_LINK_SUMS_H

#include "mapping/mapping.h"
#include "traffic/moves.h"

struct cpl_ranked {
	double congestion;
	int link;
};

struct cpl_link_sums {
	struct cpl_moves moves;
	/* Congestion of links: bytes / bandwidth, as kept. */
	double *congestion; /* [n_links] */
	double max, sum, squares;
	int64_t used; /* links with load */
	/* Reference of the hybrid metric; a term with 0 is left out. */
	struct cpl_metrics metrics0;
	double hop_bytes0;
	/* Links from the most loaded down, made when asked for. */
	struct cpl_ranked *ranking; /* [n_links] */
	bool ranked;
};

/*
 * Begin without flows, but with the request's background. The reference is the
 * default order of the request's ranks. A routing that finds all paths together
 * is stood in for by cpl_routing_by_flow. 0, or -1 with err (memory). O(entries
 * + links).
 */
int cpl_link_sums_init(struct cpl_link_sums *sums,
                       const struct cpl_map_request *req,
                       struct cpl_error *err);
void cpl_link_sums_free(struct cpl_link_sums *sums);

/* For one more thread, as cpl_moves_view: flows, the hybrid metric and undo. */
int cpl_link_sums_view(const struct cpl_link_sums *sums,
                       struct cpl_link_sums *view, struct cpl_error *err);
/* See what sums kept since. O(1). */
void cpl_link_sums_follow(struct cpl_link_sums *view,
                          const struct cpl_link_sums *sums);

/* The hybrid metric with what is tentative: HB/HB0 + MC/MC0 + NZCA/NZCA0 +
 * NZCV/NZCV0; loads must have grown only. O(touched links). */
double cpl_link_sums_hybrid(const struct cpl_link_sums *sums);

/* Largest congestion with what is tentative. O(touched links), and O(links log
 * links) for the first after changes were kept. */
double cpl_link_sums_max(struct cpl_link_sums *sums);

/* The most congested link without what is tentative, ties to the lowest id;
 * -1 on a network without links. */
int cpl_link_sums_hottest(struct cpl_link_sums *sums);

/* Keep what is tentative. O(touched links), O(links) where a load fell. */
void cpl_link_sums_keep(struct cpl_link_sums *sums);

#endif
