/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"
#include "job_inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "routing/adaptive/adaptive.h"

/* Differences below this are rounding, as in the objectives. */
#define TIE 1e-9

/* "a+b" of the signatures of a case; NULL: memory. */
static char *case_name(const struct compare *c, const struct compare_case *one)
{
	char *name = NULL;
	size_t size;
	FILE *out = open_memstream(&name, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < one->count; i++)
		fprintf(out, "%s%s", i ? "+" : "",
		        c->jobs.job[one->first + i].sig->name);
	if (!fclose(out))
		return name;
	free(name);
	return NULL;
}

static int make_cases(struct compare *c, bool together, struct cpl_error *err)
{
	int n = together ? 1 : c->jobs.n;

	c->cases = calloc((size_t)n, sizeof(*c->cases));
	if (!c->cases)
		return cpl_fail_memory(err);
	c->n_cases = n;
	for (int i = 0; i < n; i++) {
		c->cases[i].first = i;
		c->cases[i].count = together ? c->jobs.n : 1;
		c->cases[i].name = case_name(c, &c->cases[i]);
		if (!c->cases[i].name)
			return cpl_fail_memory(err);
	}
	return 0;
}

/* What the evaluations work on, one after the other. */
struct scene {
	const struct cpl_routing **routing; /* [n_routings] as the next ones */
	unsigned char *idle; /* [n_nodes] without a running job */
	unsigned char *free; /* [n_nodes] of the evaluation at hand */
	/* Under each routing the running jobs: as their load, or as jobs where
	 * they adapt; and the same with the jobs of the evaluation at hand. */
	struct cpl_load *background;
	struct cpl_scene *jobs;              /* [n_routings] */
	struct communication *communication; /* [jobs] of the case at hand */
	struct cpl_workload **running, **workload; /* [n_routings] */
	/* Where jobs adapt to each other: the jobs before this one under the
	 * minimal routing, for searches. */
	struct cpl_workload *guess;
};

static bool adapts(const struct scene *s, int routing)
{
	return cpl_routing_is_adaptive(s->routing[routing]);
}

/* Go back to the state before the first job. */
static int begin(const struct compare *c, struct scene *s, int routing,
                 struct cpl_error *err)
{
	const struct cpl_load *background =
	        c->jobs.running ? &s->background[routing] : NULL;

	if (!adapts(s, routing)) {
		cpl_workload_clear(s->workload[routing], background);
		return 0;
	}
	cpl_workload_clear(s->workload[routing], NULL);
	cpl_workload_clear(s->guess, background);
	return s->running[routing]
	               ? cpl_workload_add_all(s->workload[routing],
	                                      s->running[routing], err)
	               : 0;
}

/* Solve for all jobs; the last ones are those of the case. */
static int solve(const struct compare *c, struct cpl_workload *w, int n_jobs,
                 struct evaluation *out, struct cpl_error *err)
{
	if (cpl_workload_solve(w, err))
		return -1;
	for (int i = cpl_workload_jobs(w) - n_jobs; i < cpl_workload_jobs(w);
	     i++)
		evaluation_add(out, cpl_workload_sums(w, i));
	return evaluation_finish(out, c->net, cpl_workload_load(w),
	                         (int)c->jobs.threads, err);
}

/* Find the job of the case that takes longest under one routing. */
static int judge(const struct compare *c, struct scene *s, int routing,
                 const struct compare_case *one, struct communication *out,
                 struct cpl_error *err)
{
	const struct cpl_load *bytes, *running;

	if (cpl_scene_loads(&s->jobs[routing], 0, &bytes, &running, err) ||
	    communication_judge(c->net, &c->jobs.job[one->first], one->count,
	                        s->routing[routing], running, s->communication,
	                        err))
		return -1;
	*out = s->communication[0];
	for (int i = 1; i < one->count; i++)
		if (s->communication[i].times.seconds > out->times.seconds)
			*out = s->communication[i];
	return 0;
}

/* What the model predicts for one job with all others on the links. -1: its
 * matrix is not stored; -2 with err. */
static double ask_one(const struct compare *c, const struct scene *s,
                      int routing, const struct job_traffic *job,
                      const struct communication *known,
                      struct cpl_error *err)
{
	struct cpl_phase once;
	int n;
	const struct cpl_phase *phase = communication_phases(job, &once, &n);
	struct cpl_comm *comm;
	double seconds = -2;

	if (!known->known)
		return -1;
	comm = cmd_comm(job->sig, job->phase, err);
	if (!comm)
		return -2;
	if (cpl_learned_seconds(
	            c->learned,
	            &(struct cpl_feature_job){
	                    .net = c->net,
	                    .routing = cpl_routing_by_flow(c->net,
	                                                   known->routing),
	                    .comm = comm,
	                    .ranks_per_node = job->ranks_per_node,
	                    .node = job->node,
	                    .total = cpl_workload_load(s->workload[routing]),
	                    .phase = phase,
	                    .n_phases = n,
	                    .judged = known->routing->add,
	                    .seconds = known->times.seconds},
	            &seconds, err))
		seconds = -2;
	cpl_comm_free(comm);
	return seconds;
}

/* The longest of the case's jobs, which were judged just now. */
static int ask_model(const struct compare *c, const struct scene *s,
                     int routing, const struct compare_case *one,
                     double *told, struct cpl_error *err)
{
	*told = -1;
	for (int i = 0; c->learned && i < one->count; i++) {
		double seconds = ask_one(c, s, routing,
		                         &c->jobs.job[one->first + i],
		                         &s->communication[i], err);

		if (seconds < -1)
			return -1;
		*told = fmax(*told, seconds);
	}
	return 0;
}

/* The same of all routings, which share the nodes. */
static int measure_groups(const struct compare *c,
                          const struct compare_case *one,
                          struct compare_result *out, int n,
                          struct cpl_error *err)
{
	const struct job_traffic *job = &c->jobs.job[one->first];
	struct cpl_rank_grid grid;

	if (one->count > 1 || !cpl_phases_groups(job->sig->phase,
	                                         job->sig->n_phases, &grid))
		return 0;
	if (spread_measure(c->net, &grid, job->node, NULL, job->ranks_per_node,
	                   &out[0].spread, err))
		return -1;
	for (int r = 1; r < n; r++)
		out[r].spread = out[0].spread;
	return 0;
}

/* Evaluate under routings first .. first + n - 1, which share the nodes, into
 * out[n]. A search goes by the first of them. */
static int evaluate(const struct compare *c, struct scene *s, int first, int n,
                    const struct compare_case *one,
                    const struct cpl_placement_policy *placement, uint64_t seed,
                    struct compare_result *out, struct cpl_error *err)
{
	bool guess = adapts(s, first);
	struct cpl_scene scene = {
	        .net = c->net,
	        .routing = s->routing[first],
	        .load = cpl_workload_load(guess ? s->guess
	                                        : s->workload[first]),
	};

	memcpy(s->free, s->idle, (size_t)c->net->n_nodes);
	for (int r = 0; r < n; r++) {
		out[r] = (struct compare_result){.seed = seed};
		if (begin(c, s, first + r, err))
			return -1;
	}
	for (int i = 0; i < one->count; i++) {
		struct job_traffic *job = &c->jobs.job[one->first + i];
		struct cpl_job placed;

		job->wish.policy = placement;
		if (job_traffic_choose(job, &scene, seed, s->free, err))
			return -1;
		placed = job_traffic_placed(job, NULL);
		if (cpl_workload_add_each(s->workload + first,
		                          s->routing + first, n, &placed, err))
			return -1;
		placed.routing = cpl_routing_by_flow(c->net, s->routing[first]);
		if (!placement->place && guess && i + 1 < one->count &&
		    cpl_workload_add(s->guess, &placed, err) < 0)
			return -1;
	}
	if (measure_groups(c, one, out, n, err))
		return -1;
	for (int r = 0; r < n; r++)
		if (solve(c, s->workload[first + r], one->count, &out[r].of,
		          err) ||
		    judge(c, s, first + r, one, &out[r].longest, err) ||
		    ask_model(c, s, first + r, one, &out[r].told, err))
			return -1;
	return 0;
}

static double maximum(const struct compare_result *result)
{
	return result->of.stats[0].stats.max;
}

static CPL_SORT_BY(by_maximum, struct compare_result,
                   CPL_KEY(maximum(x), maximum(y)), CPL_UP(seed))

/* Sort the results of a row's seeds and keep the median. */
static void fill_row(struct compare_row *row, struct compare_result *result,
                     int n)
{
	qsort(result, (size_t)n, sizeof(*result), by_maximum);
	row->result = result[(n - 1) / 2];
	row->n_seeds = n;
	row->low = maximum(&result[0]);
	row->high = maximum(&result[n - 1]);
}

/* Rows of one case and placement; a plain policy chooses the same nodes under
 * every routing, a search goes by each. */
static int fill_rows(const struct compare *c, struct scene *s,
                     struct compare_row *row, struct cpl_error *err)
{
	const struct cpl_placement_policy *placement =
	        (const void *)c->placement[row->placement];
	bool random =
	        placement->place && placement->flags & CPL_PLACEMENT_RANDOM;
	int n = random ? (int)c->n_seeds : 1;
	int together = placement->place ? c->n_routings : 1, rc = -1;
	struct compare_result *out =
	        malloc((size_t)c->n_routings * sizeof(*out));
	struct compare_result *result =
	        malloc((size_t)c->n_routings * (size_t)n * sizeof(*result));

	if (cpl_out_of_memory(!out || !result, err))
		goto out;
	for (int i = 0; i < n; i++)
		for (int r = 0; r < c->n_routings; r += together) {
			if (evaluate(c, s, r, together,
			             &c->cases[row->the_case], placement,
			             (uint64_t)c->jobs.seed + (uint64_t)i, out,
			             err))
				goto out;
			for (int k = 0; k < together; k++)
				result[(r + k) * n + i] = out[k];
		}
	for (int r = 0; r < c->n_routings; r++)
		fill_row(&row[r], result + (ptrdiff_t)r * n, n);
	rc = 0;
out:
	cpl_free_all(out, result);
	return rc;
}

/* Their hosts, and their traffic under one routing. */
static int load_running(const struct compare *c, struct scene *s, int routing,
                        struct cpl_error *err)
{
	if (adapts(s, routing)) {
		s->running[routing] =
		        cpl_workload_new(c->net, (int)c->jobs.threads, err);
		if (!s->running[routing])
			return -1;
	}
	return cmd_load_running(c->jobs.running, c->jobs.profile_dir,
	                        s->routing[routing], &s->jobs[routing], s->idle,
	                        &s->background[routing], s->running[routing],
	                        err);
}

static int open_scene(const struct compare *c, struct scene *s,
                      struct cpl_error *err)
{
	size_t n = (size_t)c->n_routings;

	s->idle = cmd_usable_nodes(c->net, err);
	if (!s->idle)
		return -1;
	s->free = malloc((size_t)c->net->n_nodes);
	s->routing = calloc(n, sizeof(*s->routing));
	s->background = calloc(n, sizeof(*s->background));
	s->jobs = calloc(n, sizeof(*s->jobs));
	s->communication =
	        calloc((size_t)c->jobs.n, sizeof(*s->communication));
	s->running = calloc(n, sizeof(*s->running));
	s->workload = calloc(n, sizeof(*s->workload));
	if (!s->free || !s->routing || !s->background || !s->jobs ||
	    !s->communication || !s->running || !s->workload)
		return cpl_fail_memory(err);
	for (int r = 0; r < c->n_routings; r++) {
		s->routing[r] = (const void *)c->routing[r];
		s->jobs[r].net = c->net;
		s->workload[r] =
		        cpl_workload_new(c->net, (int)c->jobs.threads, err);
		if (!s->workload[r] ||
		    (c->jobs.running && load_running(c, s, r, err) < 0))
			return -1;
		if (adapts(s, r) && !s->guess) {
			s->guess = cpl_workload_new(c->net,
			                            (int)c->jobs.threads, err);
			if (!s->guess)
				return -1;
		}
	}
	return 0;
}

static void close_scene(const struct compare *c, struct scene *s)
{
	for (int r = 0; r < c->n_routings; r++) {
		if (s->background)
			cpl_load_free(&s->background[r]);
		if (s->jobs)
			cpl_scene_close(&s->jobs[r]);
		if (s->workload)
			cpl_workload_free(s->workload[r]);
		if (s->running)
			cpl_workload_free(s->running[r]);
	}
	cpl_workload_free(s->guess);
	cpl_free_all(s->routing, s->running, s->workload, s->idle, s->free,
	             s->background, s->jobs, s->communication);
}

static int fill(struct compare *c, struct cpl_error *err)
{
	struct scene s = {.idle = NULL};
	int rc = open_scene(c, &s, err);

	for (int i = 0; i < c->n_rows; i++) {
		c->row[i].routing = i % c->n_routings;
		c->row[i].placement = i / c->n_routings % c->n_placements;
		c->row[i].the_case = i / c->n_routings / c->n_placements;
	}
	for (int i = 0; i < c->n_rows && !rc; i += c->n_routings)
		rc = fill_rows(c, &s, &c->row[i], err);
	close_scene(c, &s);
	return rc;
}

static void mark_lowest(struct compare_row *row, int n)
{
	double max = INFINITY, congestion = INFINITY;

	for (int i = 0; i < n; i++) {
		max = fmin(max, maximum(&row[i].result));
		congestion = fmin(congestion,
		                  row[i].result.of.metrics.max_congestion);
	}
	for (int i = 0; i < n; i++) {
		row[i].lowest_maximum =
		        maximum(&row[i].result) <= max * (1 + TIE);
		row[i].lowest_congestion =
		        row[i].result.of.metrics.max_congestion <=
		        congestion * (1 + TIE);
	}
}

/* Rows of one case; linear is the base of its routing. */
static void add_hybrid(const struct compare *c, struct compare_row *row)
{
	int base = -1;

	for (int p = 0; p < c->n_placements; p++)
		if (!strcmp(c->placement[p]->name, "linear"))
			base = p;
	for (int i = 0; i < c->n_placements * c->n_routings; i++) {
		const struct evaluation *own = &row[i].result.of, *linear;

		row[i].hybrid = -1;
		if (base < 0)
			continue;
		linear = &row[base * c->n_routings + i % c->n_routings]
		                  .result.of;
		if (!(linear->metrics.max_congestion > 0))
			continue;
		row[i].hybrid = cpl_metrics_hybrid(
		        &own->metrics, own->sums.hop_bytes, &linear->metrics,
		        linear->sums.hop_bytes);
	}
}

/* Rows of one case. */
static void add_reference(const struct compare *c, struct compare_row *row)
{
	for (int r = 0; r < c->n_routings; r++) {
		double least = INFINITY;

		for (int p = 0; p < c->n_placements; p++)
			least = fmin(least, row[p * c->n_routings + r]
			                            .result.longest.times.alone);
		for (int p = 0; p < c->n_placements; p++)
			row[p * c->n_routings + r].reference = least;
	}
}

int compare_evaluate(struct compare *c, bool together, struct cpl_error *err)
{
	int per_case = c->n_placements * c->n_routings;

	if (job_list_open(&c->jobs, err) || make_cases(c, together, err))
		return -1;
	c->n_rows = c->n_cases * per_case;
	c->row = calloc((size_t)c->n_rows, sizeof(*c->row));
	if (!c->row)
		return cpl_fail_memory(err);
	if (fill(c, err))
		return -1;
	for (int i = 0; i < c->n_cases; i++) {
		mark_lowest(&c->row[i * per_case], per_case);
		add_hybrid(c, &c->row[i * per_case]);
		add_reference(c, &c->row[i * per_case]);
	}
	return 0;
}
