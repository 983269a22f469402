/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The adaptive routings of a dragonfly for one or several jobs at once, as one
 * iterative solve (Jain 2016, 3.2.2 and 3.2.5; Damselfly).
 *
 * Every flow asks for bandwidth on each of its paths, weighted by its
 * bytes and by the least bandwidth left on the path; links divide what is left
 * in proportion; repeated until next to nothing is granted. A flow's bytes then
 * go over its paths as the bandwidth that each got.
 *
 * adaptive-direct: all static-direct paths, the same in every iteration.
 * adaptive-indirect: four paths over intermediate routers other than source
 * and destination, drawn anew in each iteration. adaptive-hybrid: up to two
 * direct paths and indirect ones up to four. Draws are functions of (job,
 * flow, iteration, path).
 *
 * Exposure: where any job's paths are drawn, each of the first 50 iterations
 * exposes a 50th of every link, to all jobs; else the links' whole bandwidth
 * is there from the start.
 *
 * End: an iteration (after the exposure) that grants less than 1e-4 of the
 * sum; with drawn paths at the latest 10 iterations after the exposure, else
 * after 30. Flows that always find new paths would go on for hundreds of
 * iterations on a machine that is not full, long after the shares of their
 * bytes have settled. For a 4-D stencil of 12,288 ranks on 512 random nodes of
 * etc/networks/edison.json (60 iterations against 282) that changes the largest
 * load by 0.1 %, the mean by 0.5 %, the quartiles by up to 9 % (bench_adaptive
 * NETWORK small RDN AH 1 [400]); with direct paths no load by more than 2e-5 of
 * the mean.
 *
 * Jobs with other routings, and whatever else is on the links, come as
 * `background` bytes per link: on each link they ask for as much as they have
 * bytes there, as a path's share of a flow's bytes does, and take what they are
 * granted; their own paths do not change.
 */
#ifndef CPL_ROUTING_ADAPTIVE_H
#define CPL_ROUTING_ADAPTIVE_H

#include "routing/routing.h"

struct cpl_adaptive_job {
	const struct cpl_flows *flows;
	const struct cpl_routing *routing; /* one of the three */
	struct cpl_routed routed;          /* out */
};

/* What a solve leaves for the next one, up to 128 MB: touching memory for the
 * first time costs a small job as much as its solve. All 0: none yet; free the
 * block in the end. */
struct cpl_adaptive_memory {
	void *block;
	size_t size;
};

struct cpl_adaptive {
	const struct cpl_network *net;
	struct cpl_adaptive_job *job;
	int n_jobs;
	const double *background; /* [n_links] bytes, or NULL */
	int threads;              /* at the most; <= 1: the caller alone */
	int iterations;           /* at the most; 0: as said above */
	bool by_flows;            /* however many: to compare with */
	double *load;             /* [n_links] bytes of the jobs are added; may
	                           * be background */
	double *bandwidth;        /* [n_links] or NULL: add what links grant,
	                           * the background's share included */
	struct cpl_adaptive_memory *memory; /* or NULL */
	int iterations_taken;               /* out */
};

static inline bool cpl_routing_is_adaptive(const struct cpl_routing *routing)
{
	return routing->flags & CPL_ROUTING_ADAPTIVE;
}

/*
 * Solve. 0, or -1 with err when memory is out. The same bits for the same
 * input, whatever the number of threads. O(iterations * flows * paths * hops +
 * iterations * links); memory about 32 bytes per flow for adaptive-direct
 * times K, for the others 32 (10 KB up to 8,192 flows, where the paths are
 * kept; 1 KB up to a million, where the grants are kept rather than found
 * twice), and 100 bytes per link.
 *
 * Many flows are added up in another order, several times as fast (46.7 million
 * on 92,160 routers: 1.6 s of CPU time an iteration rather than 14.4 with
 * adaptive-direct, 13.4 million 8.6 s rather than 27 with adaptive-hybrid; see
 * bench_adaptive): adaptive-direct with more than 20,000, one link between two
 * groups and at least four flows to each two groups, by pairs of groups (100
 * bytes more for each two routers of a group); the others with more than a
 * million, or more than 20,000 and 512 to each group, and up to four links
 * between two groups, by the groups that their paths pass through (130 bytes
 * per flow and 1 KB per link).
 */
int cpl_adaptive_solve(struct cpl_adaptive *a, struct cpl_error *err);

#endif
