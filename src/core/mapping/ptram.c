/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/ptram.h"

#include <stdlib.h>

#include "base/parallel.h"

/* Values nearer than this are one: sums over equal routes differ in their last
 * bits. */
#define SAME 1e-12

/* Flows of a step from which threads are worth starting, and how many
 * candidates one is handed at a time. */
#define MANY_FLOWS 8192
#define CHUNK 32
#define THREADS_MAX 16

/* A mapped task that the next one talks with. */
struct partner {
	int node;
	double to, from; /* bytes */
};

struct state {
	struct cpl_tasks *t;
	struct cpl_link_sums sums;
	struct cpl_link_sums *view; /* [n_views] of the other threads */
	int n_views;
	bool views_made;
	int *place_of;
	bool *used;
	int *tried;              /* [spots] last task tried there */
	double *mapped;          /* [n] traffic with mapped tasks */
	double *unmapped;        /* [n] with the others */
	struct partner *partner; /* [n_partners] of the task at hand */
	int n_partners;
	int *candidate; /* [n_candidates] places */
	int n_candidates;
	double *value; /* [n_candidates] hybrid metric with the task there */
};

static int next_task(const struct state *s, int n_mapped)
{
	double alpha = 1.0 / (n_mapped + 1), most = 0;
	int best = -1;

	for (int q = 0; q < s->t->n; q++) {
		double delta = s->mapped[q] + alpha * s->unmapped[q];

		if (s->place_of[q] >= 0 || (best >= 0 && delta <= most))
			continue;
		best = q;
		most = delta;
	}
	return best;
}

/* The graph has each partner once, the directed matrix what goes each way. */
static void find_partners(struct state *s, int task)
{
	const struct cpl_tasks *t = s->t;
	const struct cpl_comm *graph = t->graph;

	s->n_partners = 0;
	for (int64_t e = graph->row[task]; e < graph->row[task + 1]; e++) {
		int other = graph->to[e];

		if (s->place_of[other] >= 0)
			s->partner[s->n_partners++] = (struct partner){
			        .node = t->node[s->place_of[other]],
			        .to = cpl_tasks_bytes(t, task, other),
			        .from = cpl_tasks_bytes(t, other, task),
			};
	}
}

/* Flows of the task at hand if it were on `place`. */
static void add_flows(const struct state *s, struct cpl_link_sums *sums,
                      int place)
{
	int node = s->t->node[place];

	for (int i = 0; i < s->n_partners; i++)
		if (s->partner[i].to > 0)
			cpl_link_sums_flow(sums, node, s->partner[i].node,
			                   s->partner[i].to);
	for (int i = 0; i < s->n_partners; i++)
		if (s->partner[i].from > 0)
			cpl_link_sums_flow(sums, s->partner[i].node, node,
			                   s->partner[i].from);
}

static void evaluate(void *arg, int64_t chunk, int thread)
{
	struct state *s = arg;
	struct cpl_link_sums *sums = thread ? &s->view[thread - 1] : &s->sums;
	int first = (int)chunk * CHUNK, end = first + CHUNK;

	if (end > s->n_candidates)
		end = s->n_candidates;
	for (int i = first; i < end; i++) {
		add_flows(s, sums, s->candidate[i]);
		s->value[i] = cpl_link_sums_hybrid(sums);
		cpl_link_sums_drop(sums);
	}
}

/* Without memory for them fewer threads do. */
static void make_views(struct state *s)
{
	int n = s->t->req->threads < THREADS_MAX ? s->t->req->threads
	                                         : THREADS_MAX;
	struct cpl_error ignored;

	if (s->views_made)
		return;
	s->views_made = true;
	if (n < 2)
		return;
	s->view = calloc((size_t)n - 1, sizeof(*s->view));
	while (s->view && s->n_views < n - 1 &&
	       !cpl_link_sums_view(&s->sums, &s->view[s->n_views], &ignored))
		s->n_views++;
}

static int best_place(struct state *s, int task)
{
	int threads = 1, best = 0;

	s->n_candidates = 0;
	for (int p = 0; p < s->t->n; p++) {
		if (s->used[p] || !cpl_tasks_fit(s->t, task, p) ||
		    s->tried[s->t->distance.spot[p]] == task)
			continue;
		/* Nodes of one router have the same routes. */
		s->tried[s->t->distance.spot[p]] = task;
		s->candidate[s->n_candidates++] = p;
	}
	if ((int64_t)s->n_candidates * s->n_partners >= MANY_FLOWS) {
		make_views(s);
		threads = 1 + s->n_views;
		for (int i = 0; i < s->n_views; i++)
			cpl_link_sums_follow(&s->view[i], &s->sums);
	}
	cpl_parallel(threads, (s->n_candidates + CHUNK - 1) / CHUNK, evaluate,
	             s);
	for (int i = 1; i < s->n_candidates; i++)
		if (s->value[i] < s->value[best] - SAME * s->value[best])
			best = i;
	return s->candidate[best];
}

static void put(struct state *s, int task, int place)
{
	const struct cpl_comm *graph = s->t->graph;

	add_flows(s, &s->sums, place);
	cpl_link_sums_keep(&s->sums);
	s->place_of[task] = place;
	s->used[place] = true;
	for (int64_t e = graph->row[task]; e < graph->row[task + 1]; e++) {
		s->mapped[graph->to[e]] += graph->bytes[e];
		s->unmapped[graph->to[e]] -= graph->bytes[e];
	}
}

static void run(struct state *s)
{
	const struct cpl_comm *graph = s->t->graph;

	for (int q = 0; q < s->t->n; q++)
		for (int64_t e = graph->row[q]; e < graph->row[q + 1]; e++)
			s->unmapped[q] += graph->bytes[e];
	for (int k = 0; k < s->t->n; k++) {
		int task;

		if (cpl_tasks_expired(s->t))
			return;
		task = next_task(s, k);
		find_partners(s, task);
		put(s, task, best_place(s, task));
	}
}

int cpl_ptram_place(struct cpl_tasks *t, int *place_of, struct cpl_error *err)
{
	size_t n = (size_t)t->n;
	struct state s = {.t = t, .place_of = place_of};
	bool failed = false;
	int rc = -1;

	if (cpl_link_sums_init(&s.sums, t->req, err))
		return -1;
	s.used = calloc(n, sizeof(*s.used));
	s.tried = malloc(n * sizeof(*s.tried));
	s.mapped = calloc(n, sizeof(*s.mapped));
	s.unmapped = calloc(n, sizeof(*s.unmapped));
	s.partner = malloc(n * sizeof(*s.partner));
	s.candidate = malloc(n * sizeof(*s.candidate));
	s.value = malloc(n * sizeof(*s.value));
	if (!s.used || !s.tried || !s.mapped || !s.unmapped || !s.partner ||
	    !s.candidate || !s.value) {
		cpl_fail_memory(err);
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		s.tried[i] = -1;
	run(&s);
	failed = s.sums.failed;
	for (int i = 0; i < s.n_views; i++)
		failed |= s.view[i].failed;
	rc = failed ? cpl_fail_memory(err) : 0;
out:
	free(s.used);
	free(s.tried);
	free(s.mapped);
	free(s.unmapped);
	free(s.partner);
	free(s.candidate);
	free(s.value);
	for (int i = 0; i < s.n_views; i++)
		cpl_link_sums_free(&s.view[i]);
	free(s.view);
	cpl_link_sums_free(&s.sums);
	return rc;
}

const struct cpl_mapper cpl_mapper_ptram = {
        .name = "ptram",
        .summary = "PTRAM: greedy on hop-bytes and link loads of the routing",
        .place = cpl_ptram_place,
};
