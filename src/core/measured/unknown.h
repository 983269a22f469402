/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs whose traffic nobody recorded: the least wrong pattern, that each node
 * sends as much to each other node of the job, and how much of what was measured
 * each of them sent.
 */
#pragma once

#include "measured/measured.h"
#include "traffic/workload.h"

/* A node of a larger job sends to so many others of it, drawn from all of them:
 * the pattern's cost grows with the job, not with its square. */
#define CPL_UNKNOWN_PEERS 64
/* A job that ran for less of a sample's time is not told by it. */
#define CPL_UNKNOWN_LEAST_PART 0.5

/* What n nodes send in a second when each of them sends so many bytes. NULL with err
 * (memory). */
struct cpl_comm *cpl_unknown_comm(int n, double volume, struct cpl_error *err);

/*
 * What a job on these nodes, all different, puts on the links when each of them
 * sends so many bytes in a second; its period is a second, its id to be set. The
 * workload is for one job of that network. free() it. NULL with err (memory).
 * O(n * min(n, CPL_UNKNOWN_PEERS) flows).
 */
struct cpl_job_load *cpl_unknown_load(struct cpl_workload *workload,
                                      const struct cpl_network *net,
                                      const struct cpl_routing *routing,
                                      const int *node, int n, double volume,
                                      struct cpl_error *err);

/* A job that ran while a sample was taken. */
struct cpl_unknown {
	/* As it stands there, by whatever volume, which is not 0. */
	const struct cpl_job_load *as;
	double volume; /* in: that one, bytes/s of a node; out: as measured */
	double part;   /* of the sample's time that it ran, 0 .. 1 */
	/* Out: what it sends, in a period of a second on the links of `as` one by
	 * one, its id to be set, to be freed by the caller. NULL: the sample does
	 * not tell, and volume is as it was. */
	struct cpl_job_load *load;
};

/*
 * Share what others than the known jobs were measured to send (rest, of
 * cpl_measured_rest) among the unknown ones: how much each sends by the cables of
 * its nodes, where these were measured, else by what fits all links best; then
 * each link by these. *left is what goes over links that none of them is on, as a
 * rest. Where a link was not measured, the pattern tells what is on it. 0, or -1
 * with err (memory), and nothing to free. O(links + links of the jobs), up to 30 times
 * the latter where cables of nodes were not measured.
 */
int cpl_unknown_share(struct cpl_unknown *job, int n,
                      const struct cpl_measured *measured,
                      const struct cpl_network *net,
                      const struct cpl_job_load *rest,
                      struct cpl_job_load **left, struct cpl_error *err);
