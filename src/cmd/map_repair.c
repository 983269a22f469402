/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Some hosts of a layout fail: the others keep their ranks. */
#include "map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "mapping/quick.h"
#include "mapping/replace.h"

/* More than so many percent are called worse than a fresh plan. */
#define WORSE_PERCENT 2.0

/* A layout and what it comes to. */
struct laid_out {
	const int *node, *rank_host; /* NULL: in blocks */
	int ranks_per_node;
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;
};

struct host_repair {
	const struct job_inputs *in;
	struct mapped *m;
	int *failed, n_failed; /* nodes */
	int *old;              /* [m->n_hosts] nodes before */
	unsigned char *free;   /* [nodes] may replace others */
	struct cpl_decision fresh;
	struct laid_out was, now, plan;
};

/* The hosts of JSON that `map --json` has written, or NULL with err. */
static int *json_hosts(const struct cpl_network *net, const char *path, int *n,
                       struct cpl_error *err)
{
	json_t *root = cpl_json_load(path, err);
	const json_t *list = json_object_get(root, "rank_to_host");
	size_t size = json_array_size(list);
	int *node = NULL;

	if (root && (!size || size > CPL_SIGNATURE_MAX_RANKS))
		cpl_fail(err, "%s: \"rank_to_host\" must be an array of 1 to "
		              "%d hosts",
		         path, CPL_SIGNATURE_MAX_RANKS);
	else if (root && !(node = malloc(size * sizeof(*node))))
		cpl_fail_memory(err);
	for (size_t i = 0; node && i < size; i++) {
		const char *host = json_string_value(json_array_get(list, i));

		node[i] = host ? cpl_network_node(net, host) : -1;
		if (node[i] >= 0)
			continue;
		cpl_fail(err,
		         "%s: rank_to_host of rank %zu, '%.64s', is no host of "
		         "network '%s'",
		         path, i, host ? host : "(no text)", net->name);
		free(node);
		node = NULL;
	}
	json_decref(root);
	*n = (int)size;
	return node;
}

/* Does the file begin as JSON does? */
static bool is_json(const char *path)
{
	FILE *file = fopen(path, "re");
	int c = file ? fgetc(file) : EOF;

	while (c == ' ' || c == '\n' || c == '\t' || c == '\r')
		c = fgetc(file);
	if (file)
		fclose(file);
	return c == '{';
}

/* The old layout: hosts in the order of their first ranks. */
static int read_old(struct host_repair *r, const char *path, struct cpl_error *err)
{
	const struct cpl_network *net = r->in->net;
	int ranks = r->in->comm->ranks, n = 0;
	int *node = is_json(path) ? json_hosts(net, path, &n, err)
	                          : cmd_hosts(net, path, NULL, path, &n, err);
	struct mapped *m = r->m;
	int hosts = -1;

	m->host = calloc((size_t)ranks, sizeof(int));
	m->slots = calloc((size_t)ranks, sizeof(int));
	r->old = calloc((size_t)ranks, sizeof(int));
	m->result.rank_host = calloc((size_t)ranks, sizeof(int));
	if (node && n != ranks)
		cpl_fail(err, "%s: %d ranks have hosts; the job has %d", path,
		         n, ranks);
	else if (node && m->host && m->slots && r->old && m->result.rank_host)
		hosts = cmd_rank_hosts(net, node, ranks, m->host,
		                       m->result.rank_host, err);
	else if (node)
		cpl_fail_memory(err);
	free(node);
	if (hosts < 0)
		return -1;
	m->n_hosts = hosts;
	memcpy(r->old, m->host, (size_t)hosts * sizeof(*r->old));
	for (int i = 0; i < ranks; i++)
		m->slots[m->result.rank_host[i]]++;
	return 0;
}

/* --free without running jobs' nodes, the job's and failed ones; without it all
 * others. */
static int list_free(struct host_repair *r, const char *text, struct cpl_error *err)
{
	const struct cpl_network *net = r->in->net;
	int n = 0, *node = NULL;

	r->free = calloc((size_t)net->n_nodes, 1);
	if (!r->free)
		return cpl_fail_memory(err);
	if (text && !(node = cmd_hosts_once(net, "--free", text, NULL, &n, err)))
		return -1;
	for (int i = 0; i < (text ? n : net->n_nodes); i++)
		r->free[text ? node[i] : i] = r->in->free[text ? node[i] : i];
	free(node);
	for (int h = 0; h < r->m->n_hosts; h++)
		r->free[r->m->host[h]] = 0;
	for (int i = 0; i < r->n_failed; i++)
		r->free[r->failed[i]] = 0;
	return 0;
}

/* The hosts of failed nodes, into host[n_failed]. */
static int find_failed(const struct host_repair *r, int *host,
                       struct cpl_error *err)
{
	const struct mapped *m = r->m;

	for (int i = 0; i < r->n_failed; i++) {
		int h = 0;

		while (h < m->n_hosts && m->host[h] != r->failed[i])
			h++;
		if (h == m->n_hosts)
			return cpl_fail(err,
			                "--failed: %s has no ranks of the job",
			                r->in->net->node_name[r->failed[i]]);
		host[i] = h;
	}
	return 0;
}

static int replace_all(struct host_repair *r, struct cpl_error *err)
{
	const struct job_inputs *in = r->in;
	struct mapped *m = r->m;
	struct cpl_replacing how = {.net = in->net,
	                            .routing = in->routing,
	                            .comm = in->comm,
	                            .background = in->background,
	                            .rates = in->running,
	                            .objective = in->objective,
	                            .n_hosts = m->n_hosts,
	                            .rank_host = m->result.rank_host,
	                            .free = r->free};
	int *host = malloc(((size_t)r->n_failed + 1) * sizeof(*host)), rc;

	if (!host)
		return cpl_fail_memory(err);
	rc = find_failed(r, host, err) ||
	     cpl_replace_hosts(&how, host, r->n_failed, m->host, NULL, err);
	free(host);
	return rc ? -1 : 0;
}

/* What would be decided for the job anew, on its hosts that are left and those that
 * are free. */
static int plan_anew(struct host_repair *r, struct cpl_error *err)
{
	const struct job_inputs *in = r->in;
	struct mapped *m = r->m;
	struct cpl_placement_request nodes = {.free = r->free,
	                                      .n_nodes_wanted = m->n_hosts,
	                                      .seed = m->request.seed};
	struct cpl_scene_job job = {.comm = in->comm, .ranks_per_node = 1};
	struct cpl_wish wish = {.policy = &cpl_placement_traffic,
	                        .mapper = &cpl_mapper_quick,
	                        .objective = in->objective};
	struct cpl_scene scene = in->scene;

	if (m->grid)
		nodes.grid = *m->grid;
	for (int h = 0; h < m->n_hosts; h++) {
		if (m->slots[h] > job.ranks_per_node)
			job.ranks_per_node = m->slots[h];
		r->free[r->old[h]] = 1;
	}
	for (int i = 0; i < r->n_failed; i++)
		r->free[r->failed[i]] = 0;
	return cpl_scene_decide(&scene, &job, &wish, &nodes, NULL, NULL,
	                        &r->fresh, err);
}

static int evaluate(struct host_repair *r, struct cpl_workload *workload,
                    struct laid_out *l, struct cpl_error *err)
{
	const struct job_inputs *in = r->in;
	struct cpl_job job = {.routing = in->routing,
	                      .comm = in->comm,
	                      .node = l->node,
	                      .rank_host = l->rank_host,
	                      .ranks_per_node = l->ranks_per_node};

	if (cpl_workload_evaluate(workload, &job, in->background, &l->metrics,
	                          &l->sums, err))
		return -1;
	l->metrics.seconds = cpl_traffic_seconds(
	        in->net, cpl_workload_load(workload), in->running);
	return cpl_traffic_finite(&l->metrics, &l->sums, err);
}

static int evaluate_all(struct host_repair *r, struct cpl_error *err)
{
	struct cpl_workload *workload = cpl_workload_new(r->in->net, 1, err);
	struct mapped *m = r->m;
	int most = 1, rc;

	for (int h = 0; h < m->n_hosts; h++)
		most = m->slots[h] > most ? m->slots[h] : most;
	r->was = (struct laid_out){.node = r->old,
	                          .rank_host = m->result.rank_host};
	r->now = (struct laid_out){.node = m->host,
	                          .rank_host = m->result.rank_host};
	r->plan = (struct laid_out){.node = r->fresh.node,
	                           .rank_host = r->fresh.rank_host,
	                           .ranks_per_node = most};
	rc = !workload || evaluate(r, workload, &r->was, err) ||
	     evaluate(r, workload, &r->now, err) ||
	     evaluate(r, workload, &r->plan, err);
	cpl_workload_free(workload);
	m->result.before = r->was.metrics;
	m->result.sums_before = r->was.sums;
	m->result.after = r->now.metrics;
	m->result.sums_after = r->now.sums;
	return rc ? -1 : 0;
}

static double cost_of(const struct host_repair *r, const struct laid_out *l)
{
	return cpl_objective_first(r->in->objective, &l->metrics,
	                           l->sums.hop_bytes);
}

/* Percent by which the repaired layout is worse than the fresh plan, which may cost
 * nothing. */
static double worse_by(const struct host_repair *r)
{
	double now = cost_of(r, &r->now), plan = cost_of(r, &r->plan);

	return now <= plan ? 0 : plan > 0 ? 100 * (now / plan - 1) : INFINITY;
}

static json_t *ranks_json(const struct host_repair *r, const struct laid_out *l)
{
	json_t *list = json_array();

	for (int i = 0; i < r->in->comm->ranks; i++) {
		int at = l->rank_host ? l->rank_host[i] : i / l->ranks_per_node;

		json_array_append_new(
		        list, json_string(r->in->net->node_name[l->node[at]]));
	}
	return list;
}

static json_t *to_json(const struct host_repair *r)
{
	const struct cpl_network *net = r->in->net;
	json_t *replaced = json_object();

	for (int h = 0; h < r->m->n_hosts; h++)
		if (r->old[h] != r->m->host[h])
			json_object_set_new(
			        replaced, net->node_name[r->old[h]],
			        json_string(net->node_name[r->m->host[h]]));
	return json_pack(
	        "{s:o, s:o, s:s, s:s, s:{s:f, s:f, s:f}, s:o, s:b, s:o, "
	        "s:{s:o, s:o, s:o}, s:f}",
	        "replaced", replaced, "rank_to_host", ranks_json(r, &r->now),
	        "objective", cpl_objective_name(r->in->objective), "routing",
	        r->in->routing->name, "cost", "before", cost_of(r, &r->was),
	        "repaired", cost_of(r, &r->now), "fresh", cost_of(r, &r->plan),
	        "worse_percent",
	        isinf(worse_by(r)) ? json_null() : json_real(worse_by(r)),
	        "worse", worse_by(r) > WORSE_PERCENT, "fresh_rank_to_host",
	        ranks_json(r, &r->plan), "metrics", "before",
	        job_metrics_json(&r->was.metrics, &r->was.sums), "repaired",
	        job_metrics_json(&r->now.metrics, &r->now.sums), "fresh",
	        job_metrics_json(&r->plan.metrics, &r->plan.sums), "seconds",
	        r->m->seconds);
}

static int print_text(const struct host_repair *r)
{
	const struct cpl_network *net = r->in->net;

	for (int h = 0; h < r->m->n_hosts; h++)
		if (r->old[h] != r->m->host[h])
			printf("%s takes the %d rank%s of %s\n",
			       net->node_name[r->m->host[h]], r->m->slots[h],
			       r->m->slots[h] == 1 ? "" : "s",
			       net->node_name[r->old[h]]);
	printf("%s: before %.4g, repaired %.4g, a fresh plan %.4g\n",
	       cpl_objective_name(r->in->objective), cost_of(r, &r->was),
	       cost_of(r, &r->now), cost_of(r, &r->plan));
	if (isinf(worse_by(r)))
		puts("worse than a fresh plan, which costs nothing");
	else if (worse_by(r) > WORSE_PERCENT)
		printf("worse than a fresh plan by %.1f %%\n", worse_by(r));
	return CMD_OK;
}

static int print(const struct cmd *self, const struct host_repair *r,
                 enum map_format format, const char *output)
{
	if (format == MAP_TABLE)
		return print_text(r);
	if (format != MAP_JSON)
		return map_write(self, format, output, r->in, r->m);
	return map_write_json(self, to_json(r), output);
}

int map_repair(const struct cmd *self, const struct map_repair *how,
               const struct job_inputs *in, struct mapped *m)
{
	struct host_repair r = {.in = in, .m = m};
	struct cpl_error err = {""};
	double start = cpl_clock();
	int rc;

	r.failed = cmd_hosts_once(in->net, "--failed", how->failed, NULL,
	                          &r.n_failed, &err);
	if (!r.failed || read_old(&r, how->old, &err) ||
	    list_free(&r, how->free, &err) || replace_all(&r, &err))
		rc = cmd_fail(self, &err);
	else {
		m->seconds = cpl_clock() - start;
		rc = plan_anew(&r, &err) || evaluate_all(&r, &err)
		             ? cmd_fail(self, &err)
		             : print(self, &r, how->format, how->output);
	}
	cpl_free_all(r.failed, r.old, r.free);
	cpl_decision_free(&r.fresh);
	return rc;
}
