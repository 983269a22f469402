/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What orders of nodes come to for one job, on top of the jobs already running.
 * Ranks of one host are added up first. A job of few flows costs as much as
 * their links, whatever the size of the machine; one whose flows meet most of
 * the links is faster put on all of them.
 */
#ifndef CPL_PLACEMENT_EVALUATE_H
#define CPL_PLACEMENT_EVALUATE_H

#include "placement/decide.h"
#include "traffic/moves.h"
#include "traffic/times.h"
#include "traffic/workload.h"

struct cpl_evaluator {
	const struct cpl_decide_request *req;
	/* Traffic between hosts; the diagonal is that inside of them. */
	struct cpl_comm *hosts;
	struct cpl_workload *workload; /* all links; or NULL */
	/* Few flows: the background by itself, and what the job adds. */
	bool few;
	struct cpl_metrics under;
	struct cpl_moves moves;
	double *injection, *ejection; /* [n_nodes], 0 between evaluations */
	struct cpl_times *times; /* with phases, else NULL */
	struct cpl_times_space *space;
	struct cpl_arena arena;
};

/* For req's job and background, which have to live as long. 0, or -1 with err
 * (memory), to be closed in either case. O(entries + links + nodes). */
int cpl_evaluator_open(struct cpl_evaluator *ev,
                       const struct cpl_decide_request *req,
                       struct cpl_error *err);
void cpl_evaluator_close(struct cpl_evaluator *ev);

/* The job on node[n_nodes_wanted] in rank order. 0, or -1 with err. Of few
 * flows O(links of their routes), else O(links + flows * route). */
int cpl_evaluate(struct cpl_evaluator *ev, const int *node,
                 struct cpl_metrics *metrics, struct cpl_job_sums *sums,
                 struct cpl_error *err);

/* Its seconds there, as times.h has them; {0} without phases. 0, or -1 with
 * err (memory). */
int cpl_evaluate_times(struct cpl_evaluator *ev, const int *node,
                       struct cpl_times_result *out, struct cpl_error *err);

#endif
