/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/ptram.h"

#include <stdlib.h>

/* Values nearer than this are one: sums over equal routes differ in their last
 * bits. */
#define SAME 1e-12

struct state {
	struct cpl_tasks *t;
	struct cpl_link_sums sums;
	int *place_of;
	bool *used;
	int *tried;       /* [spots] last task tried there */
	double *mapped;   /* [n] traffic with mapped tasks */
	double *unmapped; /* [n] with the others */
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

/* Both directions between a task on `place` and its mapped partners. The
 * graph has each partner once, the directed matrix what goes each way. */
static void add_flows(struct state *s, int task, int place)
{
	const struct cpl_tasks *t = s->t;
	const struct cpl_comm *comm = t->comm, *graph = t->graph;

	for (int64_t e = comm->row[task]; e < comm->row[task + 1]; e++)
		if (s->place_of[comm->to[e]] >= 0)
			cpl_link_sums_flow(&s->sums, t->node[place],
			                   t->node[s->place_of[comm->to[e]]],
			                   comm->bytes[e]);
	for (int64_t e = graph->row[task]; e < graph->row[task + 1]; e++) {
		int from = graph->to[e];

		if (s->place_of[from] < 0)
			continue;
		cpl_link_sums_flow(&s->sums, t->node[s->place_of[from]],
		                   t->node[place],
		                   cpl_tasks_bytes(t, from, task));
	}
}

static int best_place(struct state *s, int task)
{
	double least = 0;
	int best = -1;

	for (int p = 0; p < s->t->n; p++) {
		double value;

		if (s->used[p] || !cpl_tasks_fit(s->t, task, p) ||
		    s->tried[s->t->distance.spot[p]] == task)
			continue;
		/* Nodes of one router have the same routes. */
		s->tried[s->t->distance.spot[p]] = task;
		add_flows(s, task, p);
		value = cpl_link_sums_hybrid(&s->sums);
		cpl_link_sums_drop(&s->sums);
		if (best < 0 || value < least - SAME * least) {
			best = p;
			least = value;
		}
	}
	return best;
}

static void put(struct state *s, int task, int place)
{
	const struct cpl_comm *graph = s->t->graph;

	add_flows(s, task, place);
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
		put(s, task, best_place(s, task));
	}
}

int cpl_ptram_place(struct cpl_tasks *t, int *place_of, struct cpl_error *err)
{
	size_t n = (size_t)t->n;
	struct state s = {.t = t, .place_of = place_of};
	int rc = -1;

	if (cpl_link_sums_init(&s.sums, t->req, err))
		return -1;
	s.used = calloc(n, sizeof(*s.used));
	s.tried = malloc(n * sizeof(*s.tried));
	s.mapped = calloc(n, sizeof(*s.mapped));
	s.unmapped = calloc(n, sizeof(*s.unmapped));
	if (!s.used || !s.tried || !s.mapped || !s.unmapped) {
		cpl_fail_memory(err);
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		s.tried[i] = -1;
	run(&s);
	rc = s.sums.failed ? cpl_fail_memory(err) : 0;
out:
	free(s.used);
	free(s.tried);
	free(s.mapped);
	free(s.unmapped);
	cpl_link_sums_free(&s.sums);
	return rc;
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	return cpl_tasks_map(req, rank_host, cpl_ptram_place, err);
}

const struct cpl_mapper cpl_mapper_ptram = {
        .name = "ptram",
        .summary = "PTRAM: greedy on hop-bytes and link loads of the routing",
        .map = map,
};
