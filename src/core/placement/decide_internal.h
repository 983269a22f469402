/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the decision and the search of policy "traffic" share: one job's
 * traffic between its nodes, and the buffers to evaluate a node order.
 */
#ifndef CPL_PLACEMENT_DECIDE_INTERNAL_H
#define CPL_PLACEMENT_DECIDE_INTERNAL_H

#include "placement/decide.h"
#include "traffic/workload.h"

/*
 * Traffic between hosts: host h is the h-th node of the job in rank order and
 * holds ranks h * ranks_per_node and on. Which nodes the hosts are is what
 * candidates differ in, so this is added up once for all of them.
 */
struct cpl_evaluator {
	const struct cpl_decide_request *req;
	struct cpl_comm *hosts; /* the diagonal is the traffic in nodes */
	struct cpl_workload *workload;
};

/* 0, or -1 with err (memory). O(entries of the job's matrix). */
int cpl_evaluator_init(struct cpl_evaluator *ev,
                       const struct cpl_decide_request *req,
                       struct cpl_error *err);
/* 0, or -1 with err (memory). O(pairs of hosts that talk + links). */
int cpl_evaluator_run(struct cpl_evaluator *ev, const int *node,
                      struct cpl_metrics *metrics, struct cpl_job_sums *sums,
                      struct cpl_error *err);
void cpl_evaluator_free(struct cpl_evaluator *ev);

/*
 * Improve node[] (n_nodes_wanted, a valid answer to the request) in place by
 * exchanging a node for a free one or swapping two hosts: those hosts move
 * whose traffic crosses the busiest link (mean-congestion and hop-bytes: that
 * cause most hop-bytes), to free nodes near their partners and to nodes drawn
 * from the seed. Loads change by increments, traffic/moves.h. The
 * objective's first number never gets worse on the way; for max-congestion the
 * mean may, so the caller compares the end with the start. Required nodes stay
 * in the set. The work has a fixed limit that does not depend on the machine's
 * speed; *cut_short is set when the budget ended it before. Where the routing
 * has no add, the steps are judged by the minimal routing. 0, or -1 with err
 * (memory). O(limit).
 */
int cpl_traffic_search(struct cpl_evaluator *ev, int *node, bool *cut_short,
                       struct cpl_error *err);

#endif
