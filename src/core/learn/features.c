/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
};

static int down(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

int cpl_feature_five(const double *value, int64_t n,
                     struct cpl_feature_five *out, struct cpl_error *err)
{
	double *sorted = malloc(((size_t)n + 1) * sizeof(*sorted));
	int64_t top = (n + 19) / 20, above = 0;
	double sum = 0, sum_ao = 0, sum_to = 0;

	*out = (struct cpl_feature_five){0};
	if (!sorted)
		return cpl_fail_memory(err);
	if (n)
		memcpy(sorted, value, (size_t)n * sizeof(*sorted));
	qsort(sorted, (size_t)n, sizeof(*sorted), down);
	for (int64_t i = n - 1; i >= 0; i--)
		sum += sorted[i];
	for (int64_t i = 0; i < n; i++) {
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

/* Hops of each pair of ranks on different nodes. */
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
			int from = job->node[r / job->ranks_per_node];
			int to = job->node[comm->to[i] / job->ranks_per_node];

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

static int links_of(const struct cpl_feature_job *job, double *value,
                    struct cpl_error *err)
{
	struct cpl_workload *w = cpl_workload_new(job->net, 1, err);
	double *seconds = malloc(((size_t)job->net->n_links + 1) *
	                         sizeof(*seconds));
	struct cpl_job placed = {.routing = job->routing,
	                         .comm = job->comm,
	                         .node = job->node,
	                         .ranks_per_node = job->ranks_per_node};
	const struct cpl_load *load;
	struct cpl_feature_five five;
	struct cpl_metrics m;
	int rc = -1;

	if (!seconds)
		cpl_fail_memory(err);
	if (!w || !seconds || cpl_workload_add(w, &placed, err) < 0 ||
	    cpl_workload_solve(w, err))
		goto out;
	load = cpl_workload_load(w);
	cpl_traffic_metrics(job->net, load, NULL, &m);
	for (int64_t l = 0; l < job->net->n_links; l++)
		seconds[l] = load->link[l] /
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
out:
	free(seconds);
	cpl_workload_free(w);
	return rc;
}

static int model_of(const struct cpl_feature_job *job, double *value,
                    struct cpl_error *err)
{
	struct cpl_times_space *space =
	        cpl_times_space_new(job->net, job->routing, err);
	struct cpl_times *times =
	        space ? cpl_times_open(job->phase, job->n_phases,
	                               job->comm->ranks, err)
	              : NULL;
	int hosts = (job->comm->ranks - 1) / job->ranks_per_node + 1;
	struct cpl_times_result result;
	int rc = -1;

	if (times &&
	    !cpl_times_order(times, NULL, job->ranks_per_node, hosts, err) &&
	    !cpl_times_place(times, space, job->node, err)) {
		cpl_times_judge(times, NULL, false, &result);
		value[CPL_FEATURE_MODEL] = result.seconds;
		rc = 0;
	}
	cpl_times_close(times);
	cpl_times_space_free(space);
	return rc;
}

int cpl_features(const struct cpl_feature_job *job, double value[CPL_FEATURES],
                 struct cpl_error *err)
{
	return hops_of(job, value, err) || links_of(job, value, err) ||
	                       model_of(job, value, err)
	               ? -1
	               : 0;
}
