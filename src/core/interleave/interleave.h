/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When periodic jobs should begin, so that what they send on the same links falls
 * into each other's pauses: "CASSINI: Network-aware job scheduling in machine
 * learning clusters" (Rajasekaran, Ghobadi, Akella, NSDI 2024), section 3: each job's
 * communication is laid round a circle, as long as all their periods go into, and
 * the circles are turned against each other until least is wanted of a link beyond
 * what it can give. There the affected links are a graph without loops; here all
 * links are looked at together.
 *
 * A burst sends at the rate at which the job would alone: its bytes over its time.
 */
/* Tests: interleave in test_interleave. */
#pragma once

#include "network/network.h"
#include "traffic/traffic.h"

/* The circle has so many slots for the longest period, at most so many such
 * periods, and periods that differ from a whole part of it by no more than this
 * part of them. */
#define CPL_INTERLEAVE_SLOTS 96
#define CPL_INTERLEAVE_PERIODS 16
#define CPL_INTERLEAVE_PART 0.001
/* Links looked at: those of which most is wanted. */
#define CPL_INTERLEAVE_LINKS 64

struct cpl_burst {
	double begin, seconds; /* from the beginning of the period; inside it */
	const struct cpl_load *load; /* bytes of one */
};

struct cpl_periodic_job {
	double period; /* seconds, > 0 */
	int n_bursts;
	const struct cpl_burst *burst;
};

struct cpl_interleaving {
	double *offset;  /* [n] seconds to wait at the start, below the period */
	bool *periodic;  /* [n] false: its period goes into no circle with the
	                  * others', so that it meets all of them alike */
	double circle;   /* seconds */
	int n_links;     /* looked at */
	/* Of the bytes on these links, the part that has to wait for other jobs':
	 * with all jobs beginning at once, and with the offsets. */
	double before, after;
};

/*
 * Find offsets for n jobs: from no offsets and from `starts` random ones (of the
 * seed) each job in turn takes the best slot until none gets better; the best of
 * all, ties to the first and to the smallest offset. The first periodic job begins
 * at once. 0, to be freed by cpl_interleaving_free, or -1 with err (memory, a period
 * or burst that is not finite and positive). O(links * jobs), and of each start
 * O(rounds * jobs * slots^2 * CPL_INTERLEAVE_LINKS).
 */
int cpl_interleave(const struct cpl_network *net,
                   const struct cpl_periodic_job *job, int n, int starts,
                   uint64_t seed, struct cpl_interleaving *out,
                   struct cpl_error *err);
void cpl_interleaving_free(struct cpl_interleaving *out);
