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
	job->comm = cmd_comm(job->sig, job->phase, err);
	if (!job->comm)
		return -1;
	job->n_nodes = (job->comm->ranks - 1) / job->ranks_per_node + 1;
	return 0;
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
	if (list.count < job->n_nodes) {
		cpl_fail(err,
		         "%s: %d hosts of %d ranks each; signature %.60s has "
		         "%d ranks and needs %d hosts",
		         option, list.count, job->ranks_per_node,
		         job->sig->name, job->comm->ranks, job->n_nodes);
		goto out;
	}
	job->node = cmd_node_ids(t->net, option, &list, err);
	if (!job->node)
		goto out;
	for (int i = 0; i < job->n_nodes; i++)
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
	                  .n_nodes_wanted = job->n_nodes,
	                  .seed = t->seed},
	        .policy = job->placement ? job->placement : "linear",
	        .routing = t->placing,
	        .comm = job->comm,
	        .ranks_per_node = job->ranks_per_node,
	        .background = &t->load,
	};
	struct cpl_decision decision;
	const struct cpl_candidate *chosen;

	if (cpl_decide(&req, &decision, err))
		return cpl_fail_prefix(err,
		                       "signature %.60s: ", job->sig->name);
	chosen = &decision.candidate[decision.chosen];
	job->policy = chosen->policy ? chosen->policy->name : "traffic";
	job->seed = chosen->seed;
	job->node = decision.node;
	decision.node = NULL;
	cpl_decision_free(&decision);
	for (int i = 0; i < job->n_nodes; i++)
		t->free[job->node[i]] = 0;
	return 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static int add_traffic(struct traffic *t, struct traffic_job *job,
                       struct cpl_error *err)
{
	int *rank_node = malloc((size_t)job->comm->ranks * sizeof(*rank_node));
	struct cpl_traffic_work *work =
	        cpl_traffic_work_new(t->net, job->comm, err);
	double start;
	int rc = -1;

	if (!rank_node) {
		cpl_fail_memory(err);
		goto out;
	}
	if (!work)
		goto out;
	for (int rank = 0; rank < job->comm->ranks; rank++)
		rank_node[rank] = job->node[rank / job->ranks_per_node];
	start = now();
	cpl_traffic_add(t->net, t->routing, job->comm, rank_node, work,
	                &t->load, &job->sums);
	t->seconds += now() - start;
	link_stats_add_sums(&t->sums, &job->sums);
	rc = 0;
out:
	free(rank_node);
	cpl_traffic_work_free(work);
	return rc;
}

/* Sum of the dilations above `limit`; how many goes to *n. */
static double sum_dilation(const struct traffic *t, double limit, int64_t *n)
{
	double sum = 0;

	*n = 0;
	for (int j = 0; j < t->n_jobs; j++) {
		const struct traffic_job *job = &t->job[j];
		const struct cpl_comm *comm = job->comm;
		int64_t i = 0;

		for (int from = 0; from < comm->ranks; from++) {
			int here = cpl_network_router(
			        t->net, job->node[from / job->ranks_per_node]);

			for (; i < comm->row[from + 1]; i++) {
				int to = comm->to[i], there;
				double hops = 0;

				if (to == from || !(comm->bytes[i] > 0))
					continue;
				there = cpl_network_router(
				        t->net,
				        job->node[to / job->ranks_per_node]);
				if (there != here)
					hops = t->routing->hops(t->net, here,
					                        there);
				if (hops > limit) {
					sum += hops;
					(*n)++;
				}
			}
		}
	}
	return sum;
}

static void find_dilation(struct traffic *t)
{
	struct traffic_dilation *d = &t->dilation;
	double above;

	d->average = sum_dilation(t, -1, &d->pairs);
	if (!d->pairs)
		return;
	d->average /= (double)d->pairs;
	/* Equal ones are not above it for a rounding. */
	above = sum_dilation(t, d->average * (1 + 1e-12), &d->pairs_above);
	if (d->pairs_above)
		d->above_average = above / (double)d->pairs_above;
}

int traffic_evaluate(struct traffic *t, struct cpl_error *err)
{
	double start;

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
	find_dilation(t);
	start = now();
	cpl_traffic_metrics(t->net, &t->load, NULL, &t->metrics);
	t->seconds += now() - start;
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
		cpl_signature_free(t->job[i].sig);
		cpl_comm_free(t->job[i].comm);
		free(t->job[i].node);
	}
}
