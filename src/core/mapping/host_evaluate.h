/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How good orders of nodes are for one job, on top of the jobs already running.
 * Ranks of one host are added up before. A job of few flows costs as much as
 * their links, whatever the size of the machine; one whose flows meet most of
 * the links is faster put on all of them.
 */
#ifndef CPL_MAPPING_HOST_EVALUATE_H
#define CPL_MAPPING_HOST_EVALUATE_H

#include "traffic/moves.h"
#include "traffic/workload.h"

/* What a layout comes to. */
struct cpl_figures {
	struct cpl_metrics metrics; /* with background */
	struct cpl_job_sums sums;   /* of this job alone */
};

struct cpl_evaluator {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_load *background, *rates;
	struct cpl_workload *workload; /* all links; or NULL */
	/* Few flows: the background by itself, and what the job adds. */
	bool few;
	struct cpl_metrics under;
	struct cpl_moves moves;
	double *injection, *ejection; /* [n_nodes], 0 between evaluations */
	struct cpl_arena arena;
};

/*
 * For jobs with no more than so many flows between hosts, on top of background
 * (may be NULL), slowed by rates (cpl_objective_by_time, or NULL), which have to
 * live as long. all_metrics: fill all metrics and sums, not only those of
 * objectives, max_injection and bytes, O(links) for each. 0, or -1 with err
 * (memory), to be closed in either case. O(links + nodes).
 */
int cpl_evaluator_open(struct cpl_evaluator *ev, const struct cpl_network *net,
                       const struct cpl_routing *routing,
                       const struct cpl_load *background,
                       const struct cpl_load *rates, int64_t flows,
                       bool all_metrics, struct cpl_error *err);
void cpl_evaluator_close(struct cpl_evaluator *ev);

/* Host i of the job on node[i]; the diagonal of hosts is the traffic inside. 0,
 * or -1 with err. Of few flows O(flows + pairs of routers * route), else O(links
 * + flows * route). */
int cpl_evaluate(struct cpl_evaluator *ev, const struct cpl_comm *hosts,
                 const int *node, struct cpl_figures *out,
                 struct cpl_error *err);

#endif
