/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are cables where the network file has them? What was measured tells.
 *
 * - What a router gets it passes on, whatever the routing is. Where the links
 * of a router were all measured and what it gets and gives differ, one of its
 * cables leads to another one. (So it is, too, where switches reduce or
 * multiply messages themselves.) Two cables look exchanged where that brings
 * four routers' sums in order, by both directions.
 * - A job that is alone on the machine loads the links that are predicted. One
 * that it should load and does not is dark, one that it should not and does is
 * lit: links of nodes by wrong cables, others by those or by a routing that is
 * not the machine's. Predictions are scaled by what all nodes send, so that a
 * job that sends more or less than its profile is no matter.
 *
 * Cables that carry alike may be exchanged unnoticed.
 */
#pragma once

#include "measured/measured.h"

/* Part of what a router gets or gives up to which these are alike: samples are
 * not taken at once. */
#define CPL_CABLING_SLACK 0.05
/* Part of the job's busiest link below which a link is neither lit nor dark. */
#define CPL_CABLING_LEAST 0.05
/* So many cables at the most that look exchanged. */
#define CPL_CABLING_SWAPS 8

/* A link as cpl_times_links numbers them, in bytes/s; lit or dark. */
struct cpl_cabling_link {
	int64_t link;
	double predicted, measured;
};

struct cpl_cabling_router {
	int router;
	double in, out; /* bytes/s */
};

/* The cables of these two links, or of parallel ones: to the ends of the other
 * one each. */
struct cpl_cabling_swap {
	int64_t link[2];
};

struct cpl_cabling {
	int64_t judged;    /* routers all of whose links were measured */
	int64_t n_routers; /* that get and give differently: */
	struct cpl_cabling_router *router; /* the largest difference first */
	int n_swaps;
	struct cpl_cabling_swap swap[CPL_CABLING_SWAPS];
	/* With a job: */
	int64_t compared; /* links */
	int64_t n_links;  /* lit or dark, links of nodes among them: */
	int64_t n_node_links;
	struct cpl_cabling_link *link; /* the largest difference first */
	double scale; /* measured over predicted; 0: it does not send */
};

/* own: what the job alone on the machine is predicted to send (bytes/s); NULL:
 * routers only. 0, or -1 with err (memory); cpl_cabling_free in either case.
 * O(links
 * * (log(links) + D) + D^2), where D are the links of the (at most 16) routers
 * that differ most, among which exchanged cables are looked for. */
int cpl_cabling_check(struct cpl_cabling *out,
                      const struct cpl_measured *measured,
                      const struct cpl_network *net, const struct cpl_load *own,
                      struct cpl_error *err);
void cpl_cabling_free(struct cpl_cabling *cabling);

/* Does anything speak against the file's cables? */
static inline bool cpl_cabling_differs(const struct cpl_cabling *cabling)
{
	return cabling->n_routers || cabling->n_node_links;
}
