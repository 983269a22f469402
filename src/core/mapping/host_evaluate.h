/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This judges orders of nodes for one job on top of the jobs already running.
 * Traffic between ranks of one host pair is added up beforehand. A job of few
 * flows costs as much as their links, whatever the size of the machine; a job
 * whose flows meet most links is faster to put on all of them.
 */
#pragma once

#include "traffic/moves.h"
#include "traffic/objective.h"
#include "traffic/workload.h"

/* How good a layout is. */
struct cpl_figures {
	struct cpl_metrics metrics; /* with background */
	struct cpl_job_sums sums;   /* of this job alone */
	double rail; /* cpl_rank_groups_rail, where it is asked for */
};

/* The busiest rail is known. By busiest it is a link of a node, taken for one of the
 * fastest: metrics are of what hosts send in all, by equal parts of ports. An
 * accelerator's ports have equal parts of its bytes. O(1). */
void cpl_figures_count_rail(struct cpl_figures *figures, const struct cpl_network *net,
                            enum cpl_objective objective, double rail);

/* What a layout is not to exceed where the objective does not look: bytes on its
 * busiest rail, and on the network. */
struct cpl_ceiling {
	double rail, bytes;
};

/* Does it (most NULL: nothing is)? */
static inline bool cpl_figures_exceed(const struct cpl_figures *f,
                                      const struct cpl_ceiling *most)
{
	return most &&
	       (cpl_objective_compare(f->rail, most->rail) > 0 ||
	        cpl_objective_compare(f->sums.bytes_on_network, most->bytes) > 0);
}

struct cpl_evaluator {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_load *background, *rates;
	struct cpl_workload *workload; /* for all links; NULL where flows are
	                                * few */
	/* With few flows: the background alone; the job is added to it. */
	bool few;
	struct cpl_metrics under;
	struct cpl_moves moves;
	double *injection, *ejection; /* [n_nodes], 0 between evaluations */
	struct cpl_arena arena;
};

/* Opens an evaluator for jobs with at most `flows` flows between hosts, on top
 * of background (or NULL) and slowed by rates (see cpl_objective_by_time; or
 * NULL), which must both live as long. With all_metrics each evaluation fills
 * all metrics and sums in O(links), otherwise only those of objectives,
 * max_injection and bytes. Returns 0, or -1 with err (memory), in O(links +
 * nodes); close it in either case. */
int cpl_evaluator_open(struct cpl_evaluator *ev, const struct cpl_network *net,
                       const struct cpl_routing *routing,
                       const struct cpl_load *background,
                       const struct cpl_load *rates, int64_t flows,
                       bool all_metrics, struct cpl_error *err);
void cpl_evaluator_close(struct cpl_evaluator *ev);

/* Judges the job with host i on node[i]; the diagonal of hosts is the traffic
 * inside them. Returns 0, or -1 with err, in O(flows + pairs of routers *
 * route) for few flows, else in O(links + flows * route). */
int cpl_evaluate(struct cpl_evaluator *ev, const struct cpl_comm *hosts,
                 const int *node, struct cpl_figures *out,
                 struct cpl_error *err);
