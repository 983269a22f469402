/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a layout is judged by: which of three numbers comes first. */
#pragma once

#include <stdbool.h>

#include "routing/routing.h"
#include "traffic/traffic.h"

/* Lexicographic: the first differing number decides (relative difference above
 * 1e-9), then the earlier candidate. */
enum cpl_objective {
	/* Max congestion; where other jobs cause that whatever is chosen, the
	 * largest on links of the job itself (both known); then mean,
	 * hop-bytes. */
	CPL_OBJECTIVE_MAX,
	CPL_OBJECTIVE_MEAN,      /* mean congestion, max, hop-bytes */
	CPL_OBJECTIVE_HOP_BYTES, /* hop-bytes, max, mean */
	/* The largest of links and of node links, max congestion, hop-bytes. */
	CPL_OBJECTIVE_BUSIEST,
	CPL_OBJECTIVE_TIME, /* cpl_traffic_seconds, mean, hop-bytes */
	/*
	 * Objectives of what a job does to others, and others to it; they
	 * compare whole candidates (placement/decide.h). Layouts of one are
	 * compared by time.
	 */
	CPL_OBJECTIVE_INTERFERENCE, /* weighted slowdowns, of own and others */
	CPL_OBJECTIVE_ISOLATION,    /* links shared with others, then time */
	/* What a model predicts for a whole candidate; layouts of one are
	 * compared by time as well. */
	CPL_OBJECTIVE_LEARNED,
	CPL_OBJECTIVE_AUTO, /* what cpl_objective_for makes of it */
};

/* Does a busiest link come first, by bytes? */
static inline bool cpl_objective_by_max(enum cpl_objective objective)
{
	return objective == CPL_OBJECTIVE_MAX ||
	       objective == CPL_OBJECTIVE_BUSIEST;
}

/* Does it need to know what the running jobs send? */
static inline bool cpl_objective_by_time(enum cpl_objective objective)
{
	return objective >= CPL_OBJECTIVE_TIME &&
	       objective != CPL_OBJECTIVE_AUTO;
}

/* Are whole candidates compared, for which their seconds are needed? */
static inline bool cpl_objective_of_whole(enum cpl_objective objective)
{
	return objective >= CPL_OBJECTIVE_INTERFERENCE &&
	       objective != CPL_OBJECTIVE_AUTO;
}

/* Is it also needed what they do to the running jobs? */
static inline bool cpl_objective_of_others(enum cpl_objective objective)
{
	return objective == CPL_OBJECTIVE_INTERFERENCE ||
	       objective == CPL_OBJECTIVE_ISOLATION;
}

/* The objective itself or, for auto, time where packets choose by queues in the routing in force
 * (backlog.h) or on their way (CPL_ROUTING_PROGRESSIVE), and max-congestion elsewhere. What
 * adapts evens out the busiest link: then seconds choose better nodes
 * (doc/reproduction/time.md). On a fat tree, where packets have no choice on the way down,
 * the busiest link stays, and decides better in the worst case. */
enum cpl_objective cpl_objective_for(enum cpl_objective objective,
                                     const struct cpl_routing *stated);

/* "max-congestion", "mean-congestion", "hop-bytes", "busiest", "time",
 * "interference", "isolation", "learned", "auto". 0, or -1 with err. */
int cpl_objective_parse(const char *name, enum cpl_objective *out,
                        struct cpl_error *err);
const char *cpl_objective_name(enum cpl_objective objective);

/* Compare two numbers, of which the smaller is better: -1, 0 (as good as the
 * same), 1. */
int cpl_objective_compare(double a, double b);

/* The number that decides first. For the objectives of cpl_objective_of_whole
 * it is that of time. */
double cpl_objective_first(enum cpl_objective objective,
                           const struct cpl_metrics *metrics,
                           double hop_bytes);

/* Is a better than b? For everything that compares by objective. */
bool cpl_objective_better(enum cpl_objective objective,
                          const struct cpl_metrics *a, double a_hop_bytes,
                          const struct cpl_metrics *b, double b_hop_bytes);
