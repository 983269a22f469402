/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "link_stats.h"

static int load_signature(struct traffic *t, struct traffic_job *job,
                          struct cpl_error *err)
{
	job->sig = cmd_load_signature(job->signature, t->profile_dir, err);
	if (!job->sig)
		return -1;
	return job_traffic_open(&job->traffic, t->net, job->sig, job->phase,
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

/* Is it a search, which evaluates what it finds? */
static bool is_search(const char *policy)
{
	return !strcasecmp(policy, "auto") || !strcasecmp(policy, "traffic");
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
	        .background = t->workload ? &t->guess : &t->load,
	};
	struct cpl_decision decision;
	const struct cpl_candidate *chosen;

	if (is_search(req.policy)) {
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

/* Where adaptive routings wait for all jobs, later placements see the minimal
 * routing's load of the earlier ones. */
static int plan_traffic(struct traffic *t, struct traffic_job *job,
                        struct cpl_error *err)
{
	const struct cpl_routing *quick = cpl_routing_by_pairs(job->routing);
	struct cpl_load *guess = &t->guess;
	struct cpl_job_sums sums;
	bool search = false;

	for (int i = 0; i < t->n_jobs; i++)
		search = search || (t->job[i].placement &&
		                    is_search(t->job[i].placement));
	if (search && t->n_jobs > 1 &&
	    job_traffic_add(&job->traffic, job->node, t->threads, 1, &quick,
	                    &guess, &sums, err))
		return -1;
	job->number = job_traffic_plan(&job->traffic, job->node, t->threads,
	                               job->routing, t->workload, err);
	return job->number < 0 ? -1 : 0;
}

static int add_traffic(struct traffic *t, struct traffic_job *job,
                       struct cpl_error *err)
{
	struct cpl_load *load = &t->load;
	double start = now();

	if (t->workload
	            ? plan_traffic(t, job, err)
	            : job_traffic_add(&job->traffic, job->node, t->threads, 1,
	                              &job->routing, &load, &job->sums, err))
		return -1;
	t->seconds += now() - start;
	return 0;
}

/* All jobs are placed. */
static int solve(struct traffic *t, struct cpl_error *err)
{
	double start = now();

	if (t->workload && cpl_workload_solve(t->workload, &t->load, err))
		return -1;
	for (int i = 0; i < t->n_jobs; i++) {
		struct traffic_job *job = &t->job[i];

		if (t->workload)
			job->sums =
			        *cpl_workload_sums(t->workload, job->number);
		link_stats_add_sums(&t->sums, &job->sums);
	}
	cpl_traffic_metrics(t->net, &t->load, NULL, &t->metrics);
	t->seconds += now() - start;
	return 0;
}

static int find_dilation(struct traffic *t, struct cpl_error *err)
{
	const struct cpl_routing *routing = t->job[0].routing;
	struct cpl_stream *stream = calloc((size_t)t->n_jobs, sizeof(*stream));
	int rc;

	if (t->mixed)
		routing = cpl_routing_minimal(t->net);

	if (!stream)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->n_jobs; i++)
		stream[i] = (struct cpl_stream){
		        t->job[i].traffic.rows, t->job[i].node,
		        t->job[i].ranks_per_node, t->threads};
	rc = cpl_stream_dilation(t->net, routing, stream, t->n_jobs,
	                         &t->dilation, err);
	free(stream);
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
