/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job on a busy machine: what is decided for it where others' traffic is believed to
 * be so much, and what that comes to with all that is there. After busy_machine.h. */
#pragma once

#include "mapping/quick.h"
#include "placement/decide.h"
#include "traffic/workload.h"

#define MOST_NODES 64 /* of the job */

struct job {
	const struct cpl_signature *sig;
	const struct cpl_comm *comm;
	double seconds; /* of a run, alone */
	int nodes;
};

/* Seconds of the busiest link that the job is on, with all that is there. */
static inline double judge(const struct machine *m, const struct job *job,
                    const int *node, const int *rank_host)
{
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(m->net, 1, &err);
	struct cpl_job placed = {.routing = cpl_routing_minimal(m->net),
	                         .comm = job->comm,
	                         .node = node,
	                         .rank_host = rank_host,
	                         .ranks_per_node = PER_NODE};
	struct cpl_metrics metrics;
	struct cpl_load background;

	if (!w || cpl_load_init(&background, m->net, &err))
		die("judge", &err);
	cpl_load_scale(&background, &m->rates, job->seconds, m->net);
	if (cpl_workload_evaluate(w, &placed, &background, &metrics, NULL,
	                          &err))
		die("judge", &err);
	cpl_load_free(&background);
	cpl_workload_free(w);
	return metrics.job_congestion;
}

static inline double decide(const struct machine *m, const struct job *job,
                     const char *policy, const struct cpl_load *rates)
{
	struct cpl_error err = {""};
	struct cpl_load background;
	struct cpl_decision d;
	int stock[MOST_NODES];
	double busiest;
	struct cpl_decide_request req = {
	        .place = {.net = m->net,
	                  .free = m->free,
	                  .n_nodes_wanted = job->nodes,
	                  .seed = 1},
	        .wish.policy = cpl_placement_find(NULL, policy, NULL),
	        .wish.mapper = &cpl_mapper_quick,
	        .wish.objective = CPL_OBJECTIVE_MAX,
	        .routing = cpl_routing_minimal(m->net),
	        .comm = job->comm,
	        .ranks_per_node = PER_NODE,
	        .background = &background,
	        .rates = rates,
	        .phase = job->sig->phase,
	        .n_phases = 1,
	        .order = CPL_ORDER_REACHES};

	/* As slurmctld does, see CompareNodes in commplace.conf(5). */
	choose_stock(m, 0, job->nodes, stock);
	if (m->n_free <= 128)
		req.stock = stock;
	if (cpl_load_init(&background, m->net, &err))
		die("decide", &err);
	cpl_load_scale(&background, rates, job->seconds, m->net);
	if (cpl_decide(&req, &d, &err))
		die("decide", &err);
	busiest = judge(m, job, d.node, d.rank_host);
	cpl_decision_free(&d);
	cpl_load_free(&background);
	return busiest;
}
