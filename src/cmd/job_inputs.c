/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "site/state.h"
#include "site_files.h"

static int load_running(struct job_inputs *in, const struct job_options *o,
                        struct cpl_error *err)
{
	struct cpl_state state = {0};
	const char *dir = cmd_profile_dir(o->profile_dir);
	int rc;

	if (cpl_state_load(o->running, &state, err))
		return -1;
	in->n_running = state.n_jobs;
	rc = cpl_load_init(&in->background, in->net, err);
	if (!rc)
		rc = cpl_state_apply(&state, in->net, in->routing, dir,
		                     in->free, &in->background, err);
	cpl_state_free(&state);
	return rc;
}

int job_inputs_load(struct job_inputs *in, const struct job_options *o,
                    struct cpl_error *err)
{
	memset(in, 0, sizeof(*in));
	if (o->objective &&
	    cpl_objective_parse(o->objective, &in->objective, err))
		return cpl_fail_prefix(err, "--objective: ");
	in->net = cpl_network_load(o->network, err);
	if (!in->net)
		return -1;
	in->routing = cpl_routing_find_quick(in->net, o->routing, err);
	if (!in->routing)
		return cpl_fail_prefix(
		        err, "%s: ", o->routing ? "--routing" : o->network);
	if (o->signature) {
		struct cpl_signature *sig =
		        cmd_load_signature(o->signature, o->profile_dir, err);

		if (!sig)
			return -1;
		in->comm = cmd_comm(sig, NULL, err);
		cpl_signature_free(sig);
		if (!in->comm)
			return -1;
	}
	in->free = malloc((size_t)in->net->n_nodes);
	if (!in->free)
		return cpl_fail_memory(err);
	for (int i = 0; i < in->net->n_nodes; i++)
		in->free[i] = in->net->node_name[i] != NULL;
	return o->running ? load_running(in, o, err) : 0;
}

void job_inputs_free(struct job_inputs *in)
{
	cpl_load_free(&in->background);
	cpl_comm_free(in->comm);
	cpl_network_free(in->net);
	free(in->free);
}

const struct cpl_load *job_background(const struct job_inputs *in)
{
	return in->n_running ? &in->background : NULL;
}

int job_hosts_distinct(const struct cpl_network *net, const char *option,
                       const int *node, int n, struct cpl_error *err)
{
	unsigned char *seen = calloc((size_t)net->n_nodes, 1);
	int rc = 0;

	if (!seen)
		return cpl_fail_memory(err);
	for (int i = 0; i < n && !rc; i++) {
		if (seen[node[i]])
			rc = cpl_fail(err, "%s: host %.60s is given twice",
			              option, net->node_name[node[i]]);
		seen[node[i]] = 1;
	}
	free(seen);
	return rc;
}

int *job_hosts(const struct cpl_network *net, const char *option,
               const char *text, int *n, struct cpl_error *err)
{
	struct cpl_hostlist list = {0};
	int *node;

	if (cpl_hostlist_parse(&list, text, err)) {
		cpl_fail_prefix(err, "%s: ", option);
		cpl_hostlist_free(&list);
		return NULL;
	}
	node = cmd_node_ids(net, option, &list, err);
	*n = list.count;
	cpl_hostlist_free(&list);
	if (node && job_hosts_distinct(net, option, node, *n, err)) {
		free(node);
		return NULL;
	}
	return node;
}

json_t *job_metrics_json(const struct cpl_metrics *metrics,
                         const struct cpl_job_sums *sums)
{
	return json_pack(
	        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
	        "max_congestion", metrics->max_congestion, "mean_congestion",
	        metrics->mean_congestion, "nonzero_congestion_average",
	        metrics->nonzero_average, "nonzero_congestion_variance",
	        metrics->nonzero_variance, "max_injection",
	        metrics->max_injection, "hop_bytes", sums->hop_bytes,
	        "bytes_on_network", sums->bytes_on_network, "bytes_in_node",
	        sums->bytes_in_node, "max_dilation", sums->max_dilation);
}

double job_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
