/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "link_stats.h"

static int load_signature(struct traffic *t, struct traffic_job *job,
                          struct cpl_error *err)
{
	job->sig = cmd_load_signature(job->signature, t->profile_dir, err);
	if (!job->sig)
		return -1;
	return job_traffic_open(&job->traffic, job->sig, job->phase,
	                        job->ranks_per_node, err);
}

/* The hosts of --hosts or --node-file; only the first n_nodes are used. */
static int given_hosts(struct traffic *t, struct traffic_job *job,
                       struct cpl_error *err)
{
	const char *option = job->hosts ? "--hosts" : job->node_file;
	struct cpl_hostlist list = {0};
	int rc = -1;

	if (job->hosts ? cpl_hostlist_parse(&list, job->hosts, err)
	               : cmd_hosts_file(job->node_file, &list, err))
		return job->hosts ? cpl_fail_prefix(err, "--hosts: ") : -1;
	if (list.count < job->traffic.n_nodes) {
		cpl_fail(err,
		         "%s: %d hosts of %d ranks each; signature %.60s has "
		         "%d ranks and needs %d hosts",
		         option, list.count, job->ranks_per_node,
		         job->sig->name, job->traffic.ranks,
		         job->traffic.n_nodes);
		goto out;
	}
	job->node = cmd_node_ids(t->net, option, &list, err);
	if (!job->node)
		goto out;
	for (int i = 0; i < job->traffic.n_nodes; i++)
		t->free[job->node[i]] = 0;
	rc = 0;
out:
	cpl_hostlist_free(&list);
	return rc;
}

static int placed_hosts(struct traffic *t, struct traffic_job *job,
                        struct cpl_error *err)
{
	struct cpl_decide_request req = {
	        .place = {.net = t->net,
	                  .free = t->free,
	                  .n_nodes_wanted = job->traffic.n_nodes,
	                  .seed = t->seed},
	        .policy = job->placement ? job->placement : "linear",
	        .routing = job->placing,
	        .comm = job->traffic.comm,
	        .ranks_per_node = job->ranks_per_node,
	        .background =
	                cpl_workload_load(t->guess ? t->guess : t->workload),
	};
	struct cpl_decision decision;
	const struct cpl_candidate *chosen;

	if (cpl_placement_is_search(req.policy)) {
		req.comm = job_traffic_matrix(&job->traffic, err);
		if (!req.comm)
			return cpl_fail_prefix(err,
			                       "placement %s: ", req.policy);
	}
	if (cpl_decide(&req, &decision, err))
		return cpl_fail_prefix(err,
		                       "signature %.60s: ", job->sig->name);
	chosen = &decision.candidate[decision.chosen];
	job->policy = chosen->policy ? chosen->policy->name : "traffic";
	job->seed = chosen->seed;
	job->node = decision.node;
	decision.node = NULL;
	cpl_decision_free(&decision);
	for (int i = 0; i < job->traffic.n_nodes; i++)
		t->free[job->node[i]] = 0;
	return 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Where adaptive routings wait for all jobs, later searches see the minimal
 * routing's load of the earlier jobs. */
static int add_guess(struct traffic *t, struct traffic_job *job,
                     struct cpl_error *err)
{
	struct cpl_job guess = job_traffic_on(
	        &job->traffic, job->node, cpl_routing_by_flow(job->routing));
	bool search = false;

	for (int i = 0; i < t->n_jobs; i++)
		search = search || (t->job[i].placement &&
		                    cpl_placement_is_search(t->job[i].placement));
	if (!t->guess || !search || t->n_jobs == 1)
		return 0;
	guess.hops = NULL;
	return cpl_workload_add(t->guess, &guess, err) < 0 ? -1 : 0;
}

static int add_traffic(struct traffic *t, struct traffic_job *job,
                       struct cpl_error *err)
{
	struct cpl_job seated =
	        job_traffic_on(&job->traffic, job->node, job->routing);
	double start = now();

	if (add_guess(t, job, err))
		return -1;
	job->number = cpl_workload_add(t->workload, &seated, err);
	t->seconds += now() - start;
	return job->number < 0 ? -1 : 0;
}

/* All jobs are placed. */
static int solve(struct traffic *t, struct cpl_error *err)
{
	double start = now();

	if (cpl_workload_solve(t->workload, err))
		return -1;
	for (int i = 0; i < t->n_jobs; i++) {
		struct traffic_job *job = &t->job[i];

		job->sums = *cpl_workload_sums(t->workload, job->number);
		link_stats_add_sums(&t->sums, &job->sums);
	}
	t->load = cpl_workload_load(t->workload);
	cpl_traffic_metrics(t->net, t->load, NULL, &t->metrics);
	t->seconds += now() - start;
	return 0;
}

static int find_dilation(struct traffic *t, struct cpl_error *err)
{
	const struct cpl_routing *routing = t->job[0].routing;
	struct cpl_job *job = calloc((size_t)t->n_jobs, sizeof(*job));
	int rc;

	if (t->mixed)
		routing = cpl_routing_minimal(t->net);
	if (!job)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->n_jobs; i++)
		job[i] = job_traffic_on(&t->job[i].traffic, t->job[i].node,
		                        routing);
	rc = cpl_dilation(t->net, routing, job, t->n_jobs, t->threads,
	                  &t->dilation, err);
	free(job);
	return rc;
}

int traffic_evaluate(struct traffic *t, struct cpl_error *err)
{
	for (int i = 0; i < t->n_jobs; i++)
		if (load_signature(t, &t->job[i], err))
			return -1;
	for (int given = 1; given >= 0; given--) {
		for (int i = 0; i < t->n_jobs; i++) {
			struct traffic_job *job = &t->job[i];

			if (given != (job->hosts || job->node_file))
				continue;
			if ((given ? given_hosts : placed_hosts)(t, job, err) ||
			    add_traffic(t, job, err))
				return -1;
		}
	}
	if (solve(t, err) || find_dilation(t, err))
		return -1;
	if (!isfinite(t->sums.bytes) || !isfinite(t->sums.hop_bytes) ||
	    !isfinite(t->metrics.mean_congestion) ||
	    !isfinite(t->metrics.max_injection) ||
	    !isfinite(t->metrics.nonzero_variance))
		return cpl_fail(err, "the traffic adds up to more than a "
		                     "number can hold");
	return 0;
}

void traffic_release(struct traffic *t)
{
	for (int i = 0; i < t->n_jobs; i++) {
		job_traffic_close(&t->job[i].traffic);
		cpl_signature_free(t->job[i].sig);
		free(t->job[i].node);
	}
}
