/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/features.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "graph/contract.h"
#include "traffic/queues.h"
#include "traffic/workload.h"

const char *const cpl_feature_name[CPL_FEATURES] = {
        [CPL_FEATURE_HOPS] = "hops",
        [CPL_FEATURE_HOPS_AO] = "hops_ao",
        [CPL_FEATURE_HOPS_MAX] = "hops_max",
        [CPL_FEATURE_HOPS_SUM] = "hops_sum_ao",
        [CPL_FEATURE_LINK] = "link",
        [CPL_FEATURE_LINK_AO] = "link_ao",
        [CPL_FEATURE_LINK_TO] = "link_to",
        [CPL_FEATURE_LINK_MAX] = "link_max",
        [CPL_FEATURE_LINKS_AO] = "links_ao",
        [CPL_FEATURE_USED] = "used",
        [CPL_FEATURE_DEVIATION] = "used_deviation",
        [CPL_FEATURE_NODE_MAX] = "node_max",
        [CPL_FEATURE_MODEL] = "model",
        [CPL_FEATURE_QUEUES] = "queues",
};

int cpl_feature_five(const double *value, int64_t n,
                     struct cpl_feature_five *out, struct cpl_error *err)
{
	double *sorted = malloc(((size_t)n + 1) * sizeof(*sorted));
	int64_t top = (n + 19) / 20, above = 0, some = 0;
	double sum = 0, sum_ao = 0, sum_to = 0;

	*out = (struct cpl_feature_five){0};
	if (!sorted)
		return cpl_fail_memory(err);
	/* Values of 0 would come last, and add nothing to any sum. */
	sorted[0] = 0;
	for (int64_t i = 0; i < n; i++)
		if (value[i] > 0)
			sorted[some++] = value[i];
	qsort(sorted, (size_t)some, sizeof(*sorted), cpl_by_double_down);
	for (int64_t i = some - 1; i >= 0; i--)
		sum += sorted[i];
	for (int64_t i = 0; i < some; i++) {
		if (sorted[i] > sum / (double)n) {
			sum_ao += sorted[i];
			above++;
		}
		if (i < top)
			sum_to += sorted[i];
	}
	if (n) {
		out->mean = sum / (double)n;
		out->mean_to = sum_to / (double)top;
		out->max = sorted[0];
	}
	out->mean_ao = above ? sum_ao / (double)above : out->mean;
	out->n_ao = (double)above;
	free(sorted);
	return 0;
}

static int node_of(const struct cpl_feature_job *job, int rank)
{
	return job->node[job->rank_host ? job->rank_host[rank]
	                                : rank / job->ranks_per_node];
}

/* These are the hops of each pair of ranks on different nodes. */
static int hops_of(const struct cpl_feature_job *job, double *value,
                   struct cpl_error *err)
{
	const struct cpl_comm *comm = job->comm;
	double *hops = calloc((size_t)comm->n_entries + 1, sizeof(*hops));
	struct cpl_feature_five five;
	double bytes = 0, hop_bytes = 0;
	int64_t n = 0;
	int rc;

	if (!hops)
		return cpl_fail_memory(err);
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			int from = node_of(job, r);
			int to = node_of(job, comm->to[i]);

			if (from == to)
				continue;
			hops[n] = job->routing->hops(
			        job->net, cpl_network_router(job->net, from),
			        cpl_network_router(job->net, to));
			bytes += comm->bytes[i];
			hop_bytes += comm->bytes[i] * hops[n++];
		}
	rc = cpl_feature_five(hops, n, &five, err);
	value[CPL_FEATURE_HOPS] = bytes > 0 ? hop_bytes / bytes : 0;
	value[CPL_FEATURE_HOPS_AO] = five.mean_ao;
	value[CPL_FEATURE_HOPS_MAX] = five.max;
	value[CPL_FEATURE_HOPS_SUM] = five.mean_ao * five.n_ao;
	free(hops);
	return rc;
}

/* These are the bytes of all jobs on the links. */
static int loads_of(const struct cpl_feature_job *job,
                    const struct cpl_load *load, double *value,
                    struct cpl_error *err)
{
	const struct cpl_load *others = job->total ? NULL : job->background;
	double *seconds = malloc(((size_t)job->net->n_links + 1) *
	                         sizeof(*seconds));
	struct cpl_feature_five five;
	struct cpl_metrics m;
	int rc;

	if (!seconds)
		return cpl_fail_memory(err);
	cpl_traffic_metrics(job->net, load, others, &m);
	for (int64_t l = 0; l < job->net->n_links; l++)
		seconds[l] = (load->link[l] + (others ? others->link[l] : 0)) /
		             cpl_network_link_bandwidth(job->net, l);
	rc = cpl_feature_five(seconds, job->net->n_links, &five, err);
	value[CPL_FEATURE_LINK] = five.mean;
	value[CPL_FEATURE_LINK_AO] = five.mean_ao;
	value[CPL_FEATURE_LINK_TO] = five.mean_to;
	value[CPL_FEATURE_LINK_MAX] = five.max;
	value[CPL_FEATURE_LINKS_AO] = five.n_ao;
	value[CPL_FEATURE_USED] = m.nonzero_average;
	value[CPL_FEATURE_DEVIATION] = sqrt(m.nonzero_variance);
	value[CPL_FEATURE_NODE_MAX] = m.max_injection;
	free(seconds);
	return rc;
}

static int hosts_of(const struct cpl_feature_job *job)
{
	int n = 0;

	if (!job->rank_host)
		return (job->comm->ranks - 1) / job->ranks_per_node + 1;
	for (int r = 0; r < job->comm->ranks; r++)
		n = job->rank_host[r] >= n ? job->rank_host[r] + 1 : n;
	return n;
}

/* These are the bytes between hosts, or NULL with err. */
static struct cpl_comm *comm_of_hosts(const struct cpl_feature_job *job,
                                      struct cpl_error *err)
{
	int *host = malloc(((size_t)job->comm->ranks + 1) * sizeof(*host));
	struct cpl_comm *comm = NULL;

	for (int r = 0; host && r < job->comm->ranks; r++)
		host[r] = job->rank_host ? job->rank_host[r]
		                         : r / job->ranks_per_node;
	if (host)
		comm = cpl_comm_contract(job->comm, host, hosts_of(job),
		                         CPL_CONTRACT_BYTES, err);
	else
		cpl_fail_memory(err);
	free(host);
	return comm;
}

/* These are the seconds of the slowest flow between two nodes, where others' bytes
 * are on its links, too. */
static int queues_of(const struct cpl_feature_job *job,
                     const struct cpl_load *load, double *value,
                     struct cpl_error *err)
{
	struct cpl_comm *comm = comm_of_hosts(job, err);
	int rc = -1;

	if (comm)
		rc = cpl_queues_seconds(
		        &(struct cpl_queues){
		                .net = job->net,
		                .routing = job->routing,
		                .comm = comm,
		                .node = job->node,
		                .load = load,
		                .others = job->total ? NULL : job->background},
		        &value[CPL_FEATURE_QUEUES], err);
	cpl_comm_free(comm);
	return rc;
}

static int links_of(const struct cpl_feature_job *job, double *value,
                    struct cpl_error *err)
{
	struct cpl_job placed = {.routing = job->routing,
	                         .comm = job->comm,
	                         .node = job->node,
	                         .rank_host = job->rank_host,
	                         .ranks_per_node = job->ranks_per_node};
	struct cpl_workload *w;
	int rc = -1;

	if (job->total)
		return loads_of(job, job->total, value, err) ||
		                       queues_of(job, job->total, value, err)
		               ? -1
		               : 0;
	w = cpl_workload_new(job->net, 1, err);
	if (w && cpl_workload_add(w, &placed, err) >= 0 &&
	    !cpl_workload_solve(w, err) &&
	    !loads_of(job, cpl_workload_load(w), value, err))
		rc = queues_of(job, cpl_workload_load(w), value, err);
	cpl_workload_free(w);
	return rc;
}

static int model_of(const struct cpl_feature_job *job, double *value,
                    struct cpl_error *err)
{
	struct cpl_times_space *space;
	struct cpl_times_result result;
	int rc = -1;

	value[CPL_FEATURE_MODEL] = job->seconds;
	if (job->judged)
		return 0;
	space = cpl_times_space_new(job->net, job->routing, err);
	if (space)
		rc = cpl_times_of(space,
		                  &(struct cpl_times_job){
		                          .phase = job->phase,
		                          .n_phases = job->n_phases,
		                          .ranks = job->comm->ranks,
		                          .rank_host = job->rank_host,
		                          .ranks_per_node = job->ranks_per_node,
		                          .n_hosts = hosts_of(job),
		                          .node = job->node},
		                  NULL, &result, err);
	if (!rc)
		value[CPL_FEATURE_MODEL] = result.seconds;
	cpl_times_space_free(space);
	return rc;
}

int cpl_features(const struct cpl_feature_job *job, double value[CPL_FEATURES],
                 struct cpl_error *err)
{
	if (hops_of(job, value, err) || links_of(job, value, err) ||
	    model_of(job, value, err))
		return -1;
	for (int i = 0; i < CPL_FEATURES; i++)
		if (!isfinite(value[i]))
			return cpl_fail(err, "the traffic adds up to more than "
			                     "a number can hold");
	return 0;
}

static bool leads_from(const struct cpl_network *net, int64_t link, int station)
{
	for (int p = 0; p < net->n_ports; p++)
		if (net->link_from[link] ==
		    cpl_network_station_router(net, station, p))
			return true;
	return false;
}

/* Add the bytes of a host to those of its router's links, and return the most. */
static double add_first_links(const struct cpl_feature_job *job,
                              const struct cpl_comm *comm, int host,
                              struct cpl_route_finder *finder, double *sum)
{
	const struct cpl_network *net = job->net;
	int from = job->node[host], station = cpl_network_station(net, from);
	double most = 0;

	for (int64_t e = comm->row[host]; e < comm->row[host + 1]; e++) {
		int to = job->node[comm->to[e]], n;
		const struct cpl_share *share;

		if (from == to || cpl_network_share_domain(net, from, to))
			continue;
		share = cpl_route_find(finder, station,
		                       cpl_network_station(net, to), &n);
		for (int i = 0; i < n; i++)
			if (leads_from(net, share[i].link, station)) {
				sum[share[i].link] +=
				        share[i].part * comm->bytes[e];
				most = fmax(most, sum[share[i].link]);
			}
	}
	return most;
}

int cpl_feature_first_links(const struct cpl_feature_job *job, double *bytes,
                            struct cpl_error *err)
{
	struct cpl_comm *comm = comm_of_hosts(job, err);
	double *sum = calloc((size_t)job->net->n_links + 1, sizeof(*sum));
	struct cpl_route_finder finder;
	int rc = -1;

	*bytes = 0;
	if (!sum)
		cpl_fail_memory(err);
	else if (comm)
		rc = cpl_route_finder_init(&finder, job->net, job->routing,
		                           err);
	if (!rc) {
		for (int h = 0; h < comm->ranks; h++)
			*bytes = fmax(*bytes, add_first_links(job, comm, h,
			                                      &finder, sum));
		cpl_route_finder_free(&finder);
	}
	cpl_comm_free(comm);
	free(sum);
	return rc;
}
