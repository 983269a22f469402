/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "run_events.h"
#include "signature.h"
#include "signature/phases/phases.h"

#define MAX_RANKS_PER_NODE 65536

int job_list_add(const struct cmd *self, void *into, const char *option,
                 const char *value)
{
	struct job_list *list = into;
	struct job_traffic *job;

	if (cpl_array_grow(&list->job, list->n, sizeof(*job), NULL))
		return cmd_fail_memory(self);
	job = &list->job[list->n++];
	*job = list->common;
	job->where_said = false;
	job->is_trace = !strcmp(option, "--trace");
	job->signature = value;
	return CMD_OK;
}

struct job_traffic *job_list_last(struct job_list *list)
{
	return list->n ? &list->job[list->n - 1] : &list->common;
}

int job_list_take_ranks(const struct cmd *self, void *into, const char *option,
                        const char *value)
{
	struct cpl_error err = {""};
	int64_t ranks;

	if (cmd_int(option, value, 1, MAX_RANKS_PER_NODE, &ranks, &err))
		return cmd_fail(self, &err);
	job_list_last(into)->ranks_per_node = (int)ranks;
	return CMD_OK;
}

int job_list_take_phase(const struct cmd *self, void *into, const char *option,
                        const char *value)
{
	job_list_last(into)->phase = value;
	return CMD_OK;
}

int job_list_take_where(const struct cmd *self, void *into, const char *option,
                        const char *value)
{
	struct job_traffic *job = job_list_last(into);

	if (job->where_said)
		return cmd_usage(self, "%s: options that say where a job is "
		                       "exclude each other", option);
	job->where_said = true;
	job->placement = !strcmp(option, "--placement") ? value : NULL;
	job->node_file = !strcmp(option, "--node-file") ? value : NULL;
	job->hosts = !strcmp(option, "--hosts") ? value : NULL;
	job->rank_file = !strcmp(option, "--rank-file") ? value : NULL;
	return CMD_OK;
}

/* Where the job is a trace, its signature is all that the trace sends. */
static int open_signature(struct job_traffic *job, const char *profile_dir,
                          struct cpl_error *err)
{
	char name[CPL_PROFILE_NAME_MAX + 1];

	if (!job->is_trace) {
		job->sig = cmd_load_signature(job->signature, profile_dir, err);
		return job->sig ? 0 : -1;
	}
	job->trace = cmd_run_events(&job->signature, 1, err);
	if (!job->trace)
		return -1;
	if (job->phase && strcmp(job->phase, "trace"))
		return cpl_fail(err, "--phase: '%.60s' is no phase of %.60s; a "
		                     "trace has but one, trace", job->phase,
		                job->signature);
	job->phase = NULL;
	signature_default_name(job->signature, name);
	job->sig = cpl_phases_signature(job->trace, NULL, name, NULL, err);
	return job->sig ? 0 : cpl_fail_prefix(err, "%s: ", job->signature);
}

int job_list_open(struct job_list *list, struct cpl_error *err)
{
	for (struct job_traffic *job = list->job; job < list->job + list->n;
	     job++) {
		if (open_signature(job, list->profile_dir, err))
			return -1;
		job->ranks = job->sig->ranks;
		job->n_nodes = (job->ranks - 1) / job->ranks_per_node + 1;
		job->stored = cpl_signature_stored(job->sig);
		job->rows = cpl_rows_new(job->sig, job->phase, err);
		if (!job->rows)
			return -1;
		if (job->stored)
			job->comm = cmd_comm(job->sig, job->phase, err);
		if (job->stored && !job->comm)
			return -1;
	}
	return 0;
}

void job_list_free(struct job_list *list)
{
	for (int i = 0; i < list->n; i++) {
		cpl_comm_free(list->job[i].comm);
		cpl_rows_free(list->job[i].rows);
		cpl_signature_free(list->job[i].sig);
		cpl_run_events_free(list->job[i].trace);
		free(list->job[i].node);
	}
	free(list->job);
}

int job_list_wishes(struct job_list *list, const struct cpl_network *net,
                    struct cpl_error *err)
{
	for (struct job_traffic *job = list->job; job < list->job + list->n;
	     job++)
		if (cpl_wish_policy(&job->wish, net,
		                    job->placement ? job->placement : "linear",
		                    err))
			return cpl_fail_prefix(
			        err, "signature %.60s: ", job->sig->name);
	return 0;
}

int job_traffic_given(struct job_traffic *job, const struct cpl_network *net,
                      unsigned char *free_nodes, struct cpl_error *err)
{
	const char *option = job->hosts ? "--hosts" : job->node_file;
	int n;

	job->node = cmd_hosts(net, option, job->hosts, job->node_file, &n, err);
	if (!job->node)
		return -1;
	if (n < job->n_nodes)
		return cpl_fail(err,
		                "%s: %d hosts of %d ranks each; signature "
		                "%.60s has %d ranks and needs %d hosts",
		                option, n, job->ranks_per_node, job->sig->name,
		                job->ranks, job->n_nodes);
	for (int i = 0; i < job->n_nodes; i++)
		free_nodes[job->node[i]] = 0;
	return 0;
}

int job_traffic_choose(struct job_traffic *job, struct cpl_scene *scene,
                      uint64_t seed, unsigned char *free_nodes,
                      struct cpl_error *err)
{
	struct cpl_placement_request nodes = {.free = free_nodes,
	                                      .n_nodes_wanted = job->n_nodes,
	                                      .seed = seed};
	struct cpl_scene_job what = {.ranks_per_node = job->ranks_per_node};
	const struct cpl_candidate *chosen;
	struct cpl_decision decision;

	if (job->sig)
		cpl_phases_groups(job->sig->phase, job->sig->n_phases,
		                  &nodes.grid);
	/* A plain policy is not evaluated twice. */
	if (cpl_wish_searches(&job->wish)) {
		if (!job->comm)
			job->comm = cmd_comm(job->sig, job->phase, err);
		if (!job->comm)
			return cpl_fail_prefix(
			        err, "placement %s, signature %.60s: ",
			        job->wish.policy->name, job->sig->name);
		what.comm = job->comm;
	}
	if (cpl_scene_decide(scene, &what, &job->wish, &nodes, NULL, NULL,
	                     &decision, err))
		return cpl_fail_prefix(err,
		                       "signature %.60s: ", job->sig->name);
	chosen = &decision.candidate[decision.chosen];
	job->policy = chosen->policy->name;
	job->seed = chosen->seed;
	free(job->node);
	job->node = decision.node;
	decision.node = NULL;
	cpl_decision_free(&decision);
	for (int i = 0; i < job->n_nodes; i++)
		free_nodes[job->node[i]] = 0;
	return 0;
}

struct cpl_job job_traffic_placed(struct job_traffic *job,
                                  const struct cpl_routing *routing)
{
	return (struct cpl_job){.routing = routing,
	                        .comm = job->stored ? job->comm : NULL,
	                        .rows = job->rows,
	                        .node = job->node,
	                        .ranks_per_node = job->ranks_per_node};
}

void evaluation_add(struct evaluation *e, const struct cpl_job_sums *job)
{
	e->sums.bytes += job->bytes;
	e->sums.bytes_in_node += job->bytes_in_node;
	e->sums.bytes_in_domain += job->bytes_in_domain;
	e->sums.bytes_on_network += job->bytes_on_network;
	e->sums.hop_bytes += job->hop_bytes;
	e->sums.max_dilation = fmax(e->sums.max_dilation, job->max_dilation);
}

int inside_links(const struct cpl_network *net,
                 struct inside_links link[2 * CPL_INSIDES])
{
	static const char *const name[CPL_INSIDES][2] = {
	        [CPL_INSIDE_NODE] = {"node_out", "node_in"},
	        [CPL_INSIDE_DOMAIN] = {"domain_out", "domain_in"}};
	int n = 0;

	for (int k = 0; k < CPL_INSIDES && net->accelerators.per_node; k++)
		for (int in = 0; in < 2; in++)
			if (isfinite(net->accelerators.bandwidth[k]))
				link[n++] = (struct inside_links){
				        name[k][in], (enum cpl_inside)k, in};
	return n;
}

const double *inside_links_of(const struct cpl_load *load,
                              const struct inside_links *link)
{
	return link->in ? load->in[link->kind] : load->out[link->kind];
}

struct traffic_making {
	const struct cpl_network *net;
	const struct cpl_load *load;
	struct link_stats *stats;
	struct inside_links inside[2 * CPL_INSIDES];
	bool failed[LINK_STATS_MAX]; /* memory */
};

static void make_stats(void *arg, int64_t i, int thread)
{
	struct traffic_making *m = arg;
	struct link_stats *s = &m->stats[i];
	const struct cpl_network *net = m->net;
	int class = (int)i - 1;

	if (class < net->n_classes) {
		s->name = class < 0 ? "all" : net->link_class[class].name;
		m->failed[i] =
		        cpl_load_stats(net, m->load, class, &s->stats, NULL);
		return;
	}
	if (class > net->n_classes + 1) {
		const struct inside_links *in =
		        &m->inside[class - net->n_classes - 2];

		s->name = in->name;
		m->failed[i] = cpl_load_inside_stats(
		        net, inside_links_of(m->load, in), &s->stats, NULL);
		return;
	}
	s->name = class == net->n_classes ? "injection" : "ejection";
	m->failed[i] =
	        cpl_load_node_stats(net,
	                            class == net->n_classes ? m->load->injection
	                                                    : m->load->ejection,
	                            &s->stats, NULL);
}

int evaluation_finish(struct evaluation *e, const struct cpl_network *net,
                      const struct cpl_load *load, int threads,
                      struct cpl_error *err)
{
	struct traffic_making m = {.net = net, .load = load, .stats = e->stats};

	e->n_inside = inside_links(net, m.inside);
	e->n_stats = net->n_classes + 3 + e->n_inside;
	cpl_traffic_metrics(net, load, NULL, &e->metrics);
	cpl_parallel(threads, e->n_stats, make_stats, &m);
	for (int i = 0; i < e->n_stats; i++)
		if (m.failed[i])
			return cpl_fail_memory(err);
	if (!isfinite(e->stats[0].stats.total))
		return cpl_fail(err, "the traffic adds up to more than a "
		                     "number can hold");
	return cpl_traffic_finite(&e->metrics, &e->sums, err);
}

double evaluation_average_hops(const struct evaluation *e)
{
	return e->sums.bytes_on_network > 0
	               ? e->sums.hop_bytes / e->sums.bytes_on_network
	               : 0;
}

json_t *class_stats_json(const struct cpl_class_stats *s)
{
	return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "count",
	                 (json_int_t)s->count, "used", (json_int_t)s->used,
	                 "min", s->min, "q1", s->q1, "median", s->median,
	                 "mean", s->mean, "q3", s->q3, "max", s->max);
}

json_t *evaluation_json(const struct evaluation *e)
{
	const struct link_stats *stats = e->stats;
	json_t *links = json_object(), *root;
	int n = e->n_stats - e->n_inside - 2;

	for (int i = 0; i < n; i++)
		json_object_set_new(links, stats[i].name,
		                    class_stats_json(&stats[i].stats));
	root = json_pack(
	        "{s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
	        "s:f}",
	        "links", links, stats[n].name,
	        class_stats_json(&stats[n].stats), stats[n + 1].name,
	        class_stats_json(&stats[n + 1].stats), "hop_bytes",
	        e->sums.hop_bytes, "average_hops", evaluation_average_hops(e),
	        "max_dilation", e->sums.max_dilation, "max_congestion",
	        e->metrics.max_congestion, "mean_congestion",
	        e->metrics.mean_congestion, "nonzero_congestion_average",
	        e->metrics.nonzero_average, "nonzero_congestion_variance",
	        e->metrics.nonzero_variance, "max_injection_congestion",
	        e->metrics.max_injection, "bytes_on_network",
	        e->sums.bytes_on_network, "bytes_in_node",
	        e->sums.bytes_in_node);
	for (int i = n + 2; i < e->n_stats; i++)
		json_object_set_new(root, stats[i].name,
		                    class_stats_json(&stats[i].stats));
	if (e->n_inside)
		json_object_set_new(root, "bytes_in_domain",
		                    json_real(e->sums.bytes_in_domain));
	return root;
}
