/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The adaptive routings of a dragonfly for one or several jobs at once, as one
 * iterative solve (Jain 2016, 3.2.2 and 3.2.5; Damselfly).
 *
 * Every flow asks for bandwidth on each of its paths, weighted by its bytes and
 * by the least bandwidth left on the path. Links divide what is left in
 * proportion, and this is repeated until next to nothing is granted. A flow's
 * bytes then go over its paths in proportion to the bandwidth that each path
 * got.
 *
 * adaptive-direct uses all static-direct paths, the same in every iteration.
 * adaptive-indirect uses four paths over intermediate routers other than source
 * and destination, drawn anew in each iteration. adaptive-hybrid uses up to two
 * direct paths and fills up to four with indirect ones. Draws are functions of
 * (job, flow, iteration, path).
 *
 * Where any job's paths are drawn, each of the first 50 iterations exposes a
 * 50th of every link, to all jobs; otherwise all bandwidth is there from the
 * start.
 *
 * The solve ends with an iteration (after the exposure) that grants less than
 * 1e-4 of the sum; with drawn paths at the latest 10 iterations after the
 * exposure, else after 30. Flows that always find new paths would go on for
 * hundreds of iterations on a machine that is not full, long after the shares
 * of their bytes have settled. For a 4-D stencil of 12,288 ranks on 512 random
 * nodes of etc/networks/edison.json (60 iterations against 282) the early end
 * changes the largest load by 0.1 %, the mean by 0.5 %, the quartiles by up to
 * 9 % (bench_adaptive NETWORK small RDN AH 1 [400]); with direct paths it
 * changes no load by more than 2e-5 of the mean.
 *
 * Jobs with other routings, and whatever else is on the links, come as
 * `background` bytes per link. On each link they ask for as much as they have
 * bytes there, as a path's share of a flow's bytes does, and take what they are
 * granted; their own paths do not change.
 */
#pragma once

#include "routing/routing.h"

/* Memory that a solve leaves for the next one, up to 128 MB, since touching
 * memory for the first time costs a small job as much as its solve. It starts
 * as all 0; the caller frees the block in the end. */
struct cpl_adaptive_memory {
	void *block;
	size_t size;
};

struct cpl_adaptive {
	const struct cpl_network *net;
	struct cpl_adaptive_job *job;
	int n_jobs;
	const double *background; /* [n_links] bytes, or NULL */
	int threads;              /* at most; <= 1: only the caller's */
	int iterations;           /* at most; 0: as said above */
	bool by_flows;            /* with any number, to compare the two ways */
	int turns;                /* of jobs by groups; 0: as said below */
	double piece;             /* bytes of a path up to which they take turns
	                           * besides; 0: none */
	double *load;             /* [n_links] the jobs' bytes are added; may be
	                           * background */
	double *bandwidth;        /* [n_links] or NULL: what links grant is
	                           * added, also to the background */
	struct cpl_adaptive_memory *memory; /* or NULL */
	int iterations_taken;               /* out */
};

static inline bool cpl_routing_is_adaptive(const struct cpl_routing *routing)
{
	return routing->flags & CPL_ROUTING_ADAPTIVE;
}

/*
 * Solves all jobs. Returns 0, or -1 with err when memory is out. The same input
 * yields the same bits, whatever the number of threads. It costs O(iterations *
 * flows * paths * hops + iterations * links), and 100 bytes per link. For each
 * flow it takes about 32 bytes for each of the K paths of adaptive-direct, for
 * the others 32 bytes (10 KB up to 8,192 flows, where the paths are kept; 1 KB
 * up to a million, where the grants are kept rather than found twice).
 *
 * Many flows are added up in another order, which is several times as fast: on
 * 92,160 routers an iteration takes 1.6 s of CPU time rather than 14.4 for 46.7
 * million flows with adaptive-direct, and 8.6 s rather than 27 for 13.4 million
 * with adaptive-hybrid (bench_adaptive). adaptive-direct goes by pairs of
 * groups (100 bytes more for each two routers of a group) above 20,000 flows
 * where there is one link between two groups and at least four flows for each
 * two groups. The others go by the groups that their paths pass through (130
 * bytes per flow and 1 KB per link) above a million flows, or above 20,000 and
 * 512 to each group, where there are up to four links between two groups.
 *
 * Above 16 million flows of a job these take turns: an iteration asks for one in 2, 5,
 * 10, 25 or 50 of them, drawn once for all and such that a turn has no more than that,
 * for as many times its bytes. It costs what these flows cost, with 40 bytes for each of
 * the others. A flow then has 240 paths over the number of turns, which changes the
 * links' bytes by chance. `piece` has jobs of smaller flows take turns as well, as many
 * as leave no more than that of a flow's bytes, in their mean, to each of its paths, so
 * that light flows cost as little as heavy ones: a workload of five jobs takes an eighth.
 * doc/reproduction/adaptivity.md says by how much both change what comes out.
 */
int cpl_adaptive_solve(struct cpl_adaptive *a, struct cpl_error *err);
