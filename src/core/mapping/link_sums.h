/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link loads that change by single flows (traffic/moves.h), with the sums of
 * the hybrid metric (Mirsadeghi, Afsahi: PTRAM, eq 3) kept up to date.
 */
#pragma once

#include "mapping/mapping.h"
#include "traffic/moves.h"

struct cpl_ranked {
	double congestion;
	int link;
};

struct cpl_link_sums {
	struct cpl_moves moves;
	/* Bytes / bandwidth of each link, without what is tentative. */
	double *congestion; /* [n_links] */
	double max, sum, squares;
	int64_t used; /* links that have load */
	/* The hybrid metric's reference; a term over 0 is left out. */
	struct cpl_metrics metrics0;
	double hop_bytes0;
	/* Links from the most loaded down; sorted only when asked for. */
	struct cpl_ranked *ranking; /* [n_links] */
	bool ranked;
};

/* Begins without flows but with the request's background; the reference is the
 * default order of the request's ranks. For a routing that finds all paths
 * together cpl_routing_by_flow stands in. Returns 0, or -1 with err (memory),
 * in O(entries + links). */
int cpl_link_sums_init(struct cpl_link_sums *sums,
                       const struct cpl_map_request *req,
                       struct cpl_error *err);
void cpl_link_sums_free(struct cpl_link_sums *sums);

/* Makes a view for another thread as cpl_moves_view does; it has flows, the
 * hybrid metric and undo. */
int cpl_link_sums_view(const struct cpl_link_sums *sums,
                       struct cpl_link_sums *view, struct cpl_error *err);
/* Brings a view up to date with what `sums` kept since. O(1). */
void cpl_link_sums_follow(struct cpl_link_sums *view,
                          const struct cpl_link_sums *sums);

/* The hybrid metric, HB/HB0 + MC/MC0 + NZCA/NZCA0 + NZCV/NZCV0, with what is
 * tentative; loads must only have grown. O(touched links). */
double cpl_link_sums_hybrid(const struct cpl_link_sums *sums);

/* The largest congestion with what is tentative. O(touched links); the first
 * call after changes were kept sorts all links. */
double cpl_link_sums_max(struct cpl_link_sums *sums);

/* The most congested link without what is tentative, ties to the lowest id; -1
 * on a network without links. */
int cpl_link_sums_hottest(struct cpl_link_sums *sums);

/* Keeps what is tentative. O(touched links), or O(links) where a load fell. */
void cpl_link_sums_keep(struct cpl_link_sums *sums);
