/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "site/state.h"
#include "site_files.h"

/* Differences below this are rounding, as in the objectives. */
#define TIE 1e-9

static int add_placement(struct compare *c,
                         const struct cpl_placement_policy *policy,
                         const char *name, struct cpl_error *err)
{
	struct compare_placement *grown;

	for (int i = 0; i < c->n_placements; i++)
		if (!strcmp(c->placement[i].name, name))
			return 0;
	grown = realloc(c->placement,
	                ((size_t)c->n_placements + 1) * sizeof(*grown));
	if (!grown)
		return cpl_fail_memory(err);
	c->placement = grown;
	c->placement[c->n_placements++] = (struct compare_placement){
	        .policy = policy,
	        .name = name,
	        .short_name = policy ? policy->short_name : name,
	};
	return 0;
}

static int one_placement(struct compare *c, const char *name,
                         struct cpl_error *err)
{
	const struct cpl_placement_policy *const *all = cpl_placement_all();
	const struct cpl_placement_policy *policy;

	if (!strcasecmp(name, "all")) {
		for (int i = 0; all[i]; i++)
			if (all[i]->types & (1U << c->net->type) &&
			    add_placement(c, all[i], all[i]->name, err))
				return -1;
		return 0;
	}
	if (!strcasecmp(name, "auto"))
		return add_placement(c, NULL, "auto", err);
	if (!strcasecmp(name, "traffic"))
		return add_placement(c, NULL, "traffic", err);
	policy = cpl_placement_find(c->net->type, name, err);
	if (!policy)
		return cpl_fail_prefix(err, "--placements: ");
	return add_placement(c, policy, policy->name, err);
}

static int add_routing(struct compare *c, const struct cpl_routing *routing,
                       struct cpl_error *err)
{
	const struct cpl_routing **grown;

	for (int i = 0; i < c->n_routings; i++)
		if (c->routing[i] == routing)
			return 0;
	grown = realloc(c->routing,
	                ((size_t)c->n_routings + 1) * sizeof(*grown));
	if (!grown)
		return cpl_fail_memory(err);
	c->routing = grown;
	c->routing[c->n_routings++] = routing;
	return 0;
}

static int one_routing(struct compare *c, const char *name,
                       struct cpl_error *err)
{
	const struct cpl_routing *const *all = cpl_routing_all();
	const struct cpl_routing *routing;

	if (!strcasecmp(name, "all")) {
		for (int i = 0; all[i]; i++)
			if (all[i]->type == c->net->type && !all[i]->sampled &&
			    (!all[i]->table || c->net->routes) &&
			    add_routing(c, all[i], err))
				return -1;
		return 0;
	}
	routing = cpl_routing_find(c->net, name, err);
	if (!routing)
		return cpl_fail_prefix(err, "--routings: ");
	return add_routing(c, routing, err);
}

static int each_name(struct compare *c, const char *option, const char *list,
                     int (*take)(struct compare *, const char *,
                                 struct cpl_error *),
                     struct cpl_error *err)
{
	char *text = strdup(list), *rest = text, *name;
	int rc = 0;

	if (!text)
		return cpl_fail_memory(err);
	while (!rc && (name = strsep(&rest, ","))) {
		if (*name)
			rc = take(c, name, err);
		else
			rc = cpl_fail(err,
			              "%s: '%.60s' has an empty name; NAME,NAME"
			              " or all is right",
			              option, list);
	}
	free(text);
	return rc;
}

int compare_placements(struct compare *c, const char *list,
                       struct cpl_error *err)
{
	return each_name(c, "--placements", list, one_placement, err);
}

int compare_routings(struct compare *c, const char *list, struct cpl_error *err)
{
	return each_name(c, "--routings", list, one_routing, err);
}

static int load_job(struct compare *c, struct compare_job *job,
                    struct cpl_error *err)
{
	job->sig = cmd_load_signature(job->signature, c->profile_dir, err);
	if (!job->sig)
		return -1;
	job->comm = cmd_comm(job->sig, job->phase, err);
	if (!job->comm)
		return -1;
	job->n_nodes = (job->comm->ranks - 1) / job->ranks_per_node + 1;
	job->work = cpl_traffic_work_new(c->net, job->comm, err);
	if (!job->work)
		return -1;
	job->rank_node =
	        malloc((size_t)job->comm->ranks * sizeof(*job->rank_node));
	return job->rank_node ? 0 : cpl_fail_memory(err);
}

/* "a+b" of the signatures of a case. */
static char *case_name(const struct compare *c, const struct compare_case *one)
{
	size_t length = 1;
	char *name, *end;

	for (int i = 0; i < one->count; i++)
		length += strlen(c->job[one->first + i].sig->name) + 1;
	name = malloc(length);
	if (!name)
		return NULL;
	end = name;
	for (int i = 0; i < one->count; i++) {
		if (i)
			*end++ = '+';
		end = stpcpy(end, c->job[one->first + i].sig->name);
	}
	return name;
}

static int make_cases(struct compare *c, bool together, struct cpl_error *err)
{
	int n = together ? 1 : c->n_jobs;

	c->cases = calloc((size_t)n, sizeof(*c->cases));
	if (!c->cases)
		return cpl_fail_memory(err);
	c->n_cases = n;
	for (int i = 0; i < n; i++) {
		c->cases[i].first = i;
		c->cases[i].count = together ? c->n_jobs : 1;
		c->cases[i].name = case_name(c, &c->cases[i]);
		if (!c->cases[i].name)
			return cpl_fail_memory(err);
	}
	return 0;
}

/* What does not change while one routing is looked at. */
struct scene {
	const struct cpl_routing *routing;
	unsigned char *idle;        /* [n_nodes] without a running job */
	unsigned char *free;        /* [n_nodes] of the evaluation at hand */
	struct cpl_load background; /* running jobs */
	struct cpl_load load;       /* of the evaluation at hand */
};

static int place(const struct compare *c, struct scene *s,
                 const struct compare_placement *placement, uint64_t seed,
                 struct compare_job *job, struct cpl_error *err)
{
	struct cpl_decide_request req = {
	        .place = {.net = c->net,
	                  .free = s->free,
	                  .n_nodes_wanted = job->n_nodes,
	                  .seed = seed},
	        .policy = placement->name,
	        .routing = s->routing,
	        /* A plain policy is not evaluated twice. */
	        .comm = placement->policy ? NULL : job->comm,
	        .ranks_per_node = job->ranks_per_node,
	        .background = &s->load,
	};
	struct cpl_decision decision;

	if (cpl_decide(&req, &decision, err))
		return cpl_fail_prefix(err,
		                       "signature %.60s: ", job->sig->name);
	for (int rank = 0; rank < job->comm->ranks; rank++)
		job->rank_node[rank] =
		        decision.node[rank / job->ranks_per_node];
	for (int i = 0; i < job->n_nodes; i++)
		s->free[decision.node[i]] = 0;
	cpl_decision_free(&decision);
	return 0;
}

static int evaluate(const struct compare *c, struct scene *s,
                    const struct compare_case *one,
                    const struct compare_placement *placement, uint64_t seed,
                    struct compare_result *out, struct cpl_error *err)
{
	memset(out, 0, sizeof(*out));
	out->seed = seed;
	memcpy(s->free, s->idle, (size_t)c->net->n_nodes);
	cpl_load_clear(&s->load, c->net);
	cpl_load_add(&s->load, &s->background, c->net);
	for (int i = 0; i < one->count; i++) {
		struct compare_job *job = &c->job[one->first + i];
		struct cpl_job_sums sums;

		if (place(c, s, placement, seed, job, err))
			return -1;
		cpl_traffic_add(c->net, s->routing, job->comm, job->rank_node,
		                job->work, &s->load, &sums);
		link_stats_add_sums(&out->sums, &sums);
	}
	cpl_traffic_metrics(c->net, &s->load, NULL, &out->metrics);
	out->n_stats = link_stats_make(c->net, &s->load, out->stats, err);
	if (out->n_stats < 0)
		return -1;
	if (!isfinite(out->sums.bytes) || !isfinite(out->sums.hop_bytes) ||
	    !isfinite(out->stats[0].stats.total) ||
	    !isfinite(out->metrics.mean_congestion) ||
	    !isfinite(out->metrics.max_injection) ||
	    !isfinite(out->metrics.nonzero_variance))
		return cpl_fail(err, "the traffic adds up to more than a "
		                     "number can hold");
	return 0;
}

static double maximum(const struct compare_result *result)
{
	return result->stats[0].stats.max;
}

static int by_maximum(const void *a, const void *b)
{
	const struct compare_result *x = a, *y = b;

	if (maximum(x) != maximum(y))
		return maximum(x) < maximum(y) ? -1 : 1;
	return x->seed < y->seed ? -1 : x->seed > y->seed;
}

static int fill_row(const struct compare *c, struct scene *s,
                    struct compare_row *row, struct cpl_error *err)
{
	const struct compare_placement *placement =
	        &c->placement[row->placement];
	int n = placement->policy && placement->policy->random ? c->n_seeds : 1;
	struct compare_result *result = malloc((size_t)n * sizeof(*result));
	int rc = -1;

	if (!result)
		return cpl_fail_memory(err);
	for (int i = 0; i < n; i++)
		if (evaluate(c, s, &c->cases[row->the_case], placement,
		             c->seed + (uint64_t)i, &result[i], err))
			goto out;
	qsort(result, (size_t)n, sizeof(*result), by_maximum);
	row->result = result[(n - 1) / 2];
	row->n_seeds = n;
	row->low = maximum(&result[0]);
	row->high = maximum(&result[n - 1]);
	rc = 0;
out:
	free(result);
	return rc;
}

static int load_running(const struct compare *c, struct scene *s,
                        struct cpl_error *err)
{
	struct cpl_state state;
	int rc;

	for (int node = 0; node < c->net->n_nodes; node++)
		s->idle[node] = c->net->node_name[node] != NULL;
	if (!c->running)
		return 0;
	if (cpl_state_load(c->running, &state, err))
		return -1;
	rc = cpl_state_apply(&state, c->net, s->routing,
	                     cmd_profile_dir(c->profile_dir), s->idle,
	                     &s->background, err);
	cpl_state_free(&state);
	return rc ? cpl_fail_prefix(err, "%s: ", c->running) : 0;
}

static int under_routing(struct compare *c, int routing, struct cpl_error *err)
{
	struct scene s = {.routing = c->routing[routing]};
	int rc = -1;

	s.idle = malloc((size_t)c->net->n_nodes);
	s.free = malloc((size_t)c->net->n_nodes);
	if (!s.idle || !s.free) {
		cpl_fail_memory(err);
		goto out;
	}
	if (cpl_load_init(&s.background, c->net, err) ||
	    cpl_load_init(&s.load, c->net, err) || load_running(c, &s, err))
		goto out;
	for (int i = 0; i < c->n_cases * c->n_placements; i++) {
		struct compare_row *row = &c->row[i * c->n_routings + routing];

		row->the_case = i / c->n_placements;
		row->placement = i % c->n_placements;
		row->routing = routing;
		if (fill_row(c, &s, row, err))
			goto out;
	}
	rc = 0;
out:
	cpl_load_free(&s.background);
	cpl_load_free(&s.load);
	free(s.idle);
	free(s.free);
	return rc;
}

static void mark_lowest(struct compare_row *row, int n)
{
	double max = INFINITY, congestion = INFINITY;

	for (int i = 0; i < n; i++) {
		max = fmin(max, maximum(&row[i].result));
		congestion =
		        fmin(congestion, row[i].result.metrics.max_congestion);
	}
	for (int i = 0; i < n; i++) {
		row[i].lowest_maximum =
		        maximum(&row[i].result) <= max * (1 + TIE);
		row[i].lowest_congestion =
		        row[i].result.metrics.max_congestion <=
		        congestion * (1 + TIE);
	}
}

/* Rows of one case; linear is the base of its routing. */
static void add_hybrid(const struct compare *c, struct compare_row *row)
{
	int base = -1;

	for (int p = 0; p < c->n_placements; p++)
		if (!strcmp(c->placement[p].name, "linear"))
			base = p;
	for (int i = 0; i < c->n_placements * c->n_routings; i++) {
		const struct compare_result *own = &row[i].result, *linear;

		row[i].hybrid = -1;
		if (base < 0)
			continue;
		linear = &row[base * c->n_routings + i % c->n_routings].result;
		row[i].hybrid = cpl_metrics_hybrid(
		        &own->metrics, own->sums.hop_bytes, &linear->metrics,
		        linear->sums.hop_bytes);
	}
}

int compare_evaluate(struct compare *c, bool together, struct cpl_error *err)
{
	int per_case = c->n_placements * c->n_routings;

	for (int i = 0; i < c->n_jobs; i++)
		if (load_job(c, &c->job[i], err))
			return -1;
	if (make_cases(c, together, err))
		return -1;
	c->n_rows = c->n_cases * per_case;
	c->row = calloc((size_t)c->n_rows, sizeof(*c->row));
	if (!c->row)
		return cpl_fail_memory(err);
	for (int r = 0; r < c->n_routings; r++)
		if (under_routing(c, r, err))
			return -1;
	for (int i = 0; i < c->n_cases; i++) {
		mark_lowest(&c->row[i * per_case], per_case);
		add_hybrid(c, &c->row[i * per_case]);
	}
	return 0;
}

void compare_release(struct compare *c)
{
	for (int i = 0; i < c->n_jobs; i++) {
		cpl_signature_free(c->job[i].sig);
		cpl_comm_free(c->job[i].comm);
		cpl_traffic_work_free(c->job[i].work);
		free(c->job[i].rank_node);
	}
	for (int i = 0; i < c->n_cases; i++)
		free(c->cases[i].name);
	free(c->cases);
	free(c->placement);
	free(c->routing);
	free(c->row);
}
