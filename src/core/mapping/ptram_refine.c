/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/ptram.h"

/* Nearest places tried for each task. */
#define NEAREST 7
/* A swap must lower the largest congestion by this part of it. */
#define GAIN 1e-9

struct state {
	struct cpl_tasks *t;
	struct cpl_link_sums sums;
	int *place_of;
	int *task_on; /* [n] */
	bool receivers;
};

/* All flows of a task as it lies, both ways, times `sign`; those with `other`
 * are left out when that is not -1. */
static void flows(struct state *s, int task, int other, double sign)
{
	const struct cpl_tasks *t = s->t;
	const struct cpl_comm *comm = t->comm, *graph = t->graph;
	int here = t->node[s->place_of[task]];

	for (int64_t e = comm->row[task]; e < comm->row[task + 1]; e++)
		if (comm->to[e] != other)
			cpl_link_sums_flow(&s->sums, here,
			                   t->node[s->place_of[comm->to[e]]],
			                   sign * comm->bytes[e]);
	for (int64_t e = graph->row[task]; e < graph->row[task + 1]; e++)
		if (graph->to[e] != other)
			cpl_link_sums_flow(
			        &s->sums, t->node[s->place_of[graph->to[e]]],
			        here,
			        sign * cpl_tasks_bytes(t, graph->to[e], task));
}

static void swap(struct state *s, int p, int r)
{
	int place = s->place_of[p];

	s->place_of[p] = s->place_of[r];
	s->place_of[r] = place;
	s->task_on[s->place_of[p]] = p;
	s->task_on[s->place_of[r]] = r;
}

/* Leave the loads of the layout with p and r swapped as tentative. */
static void try_swap(struct state *s, int p, int r)
{
	flows(s, p, -1, -1);
	flows(s, r, p, -1);
	swap(s, p, r);
	flows(s, p, -1, 1);
	flows(s, r, p, 1);
}

/* Does p send, or receive where that counts, over the link? */
static bool loads_link(struct state *s, int p, int link)
{
	const struct cpl_tasks *t = s->t;
	const struct cpl_comm *comm = t->comm;

	for (int64_t e = comm->row[p]; e < comm->row[p + 1]; e++)
		if (cpl_link_sums_uses(&s->sums, t->node[s->place_of[p]],
		                       t->node[s->place_of[comm->to[e]]], link))
			return true;
	for (int64_t e = t->graph->row[p];
	     s->receivers && e < t->graph->row[p + 1]; e++) {
		int from = t->graph->to[e];

		if (cpl_tasks_bytes(t, from, p) > 0 &&
		    cpl_link_sums_uses(&s->sums, t->node[s->place_of[from]],
		                       t->node[s->place_of[p]], link))
			return true;
	}
	return false;
}

/* The NEAREST places around a place, ties to the first. */
static int nearest(struct state *s, int place, int *near)
{
	struct cpl_tasks *t = s->t;
	const float *row =
	        cpl_distance_row(&t->distance, t->distance.spot[place]);
	const int *spot = t->distance.spot;
	int n = 0;

	for (int p = 0; p < t->n; p++) {
		int at;

		if (p == place || t->room[p] != t->room[place] ||
		    (n == NEAREST && row[spot[p]] >= row[spot[near[n - 1]]]))
			continue;
		if (n < NEAREST)
			n++;
		for (at = n - 1;
		     at > 0 && row[spot[p]] < row[spot[near[at - 1]]]; at--)
			near[at] = near[at - 1];
		near[at] = p;
	}
	return n;
}

/* The best swap of one pass; false: none lowers the largest congestion. */
static bool pass(struct state *s)
{
	int link = cpl_link_sums_hottest(&s->sums), best[2] = {-1, -1};
	double least = s->sums.max * (1 - GAIN);

	if (link < 0)
		return false;
	for (int place = 0; place < s->t->n; place++) {
		int p = s->task_on[place], near[NEAREST], n;

		if (cpl_tasks_expired(s->t))
			return false;
		if (!loads_link(s, p, link))
			continue;
		n = nearest(s, place, near);
		for (int k = 0; k < n; k++) {
			int r = s->task_on[near[k]];
			double max;

			try_swap(s, p, r);
			max = cpl_link_sums_max(&s->sums);
			cpl_link_sums_drop(&s->sums);
			swap(s, p, r);
			if (max >= least)
				continue;
			least = max * (1 - GAIN);
			best[0] = p;
			best[1] = r;
		}
	}
	if (best[0] < 0)
		return false;
	try_swap(s, best[0], best[1]);
	cpl_link_sums_keep(&s->sums);
	return true;
}

int cpl_ptram_refine(struct cpl_tasks *t, int *place_of, int max_swaps,
                     bool receivers, struct cpl_error *err)
{
	struct state s = {.t = t, .place_of = place_of, .receivers = receivers};
	int n = 0;

	if (cpl_link_sums_init(&s.sums, t->req, err))
		return -1;
	s.task_on = malloc((size_t)t->n * sizeof(*s.task_on));
	if (!s.task_on) {
		cpl_link_sums_free(&s.sums);
		return cpl_fail_memory(err);
	}
	for (int i = 0; i < t->n; i++)
		s.task_on[place_of[i]] = i;
	for (int i = 0; i < t->n; i++) {
		const struct cpl_comm *comm = t->comm;

		for (int64_t e = comm->row[i]; e < comm->row[i + 1]; e++)
			cpl_link_sums_flow(&s.sums, t->node[place_of[i]],
			                   t->node[place_of[comm->to[e]]],
			                   comm->bytes[e]);
	}
	cpl_link_sums_keep(&s.sums);
	while (n < max_swaps && pass(&s))
		n++;
	if (s.sums.failed)
		n = cpl_fail_memory(err);
	free(s.task_on);
	cpl_link_sums_free(&s.sums);
	return n;
}

static int place(struct cpl_tasks *t, int *place_of, struct cpl_error *err)
{
	if (cpl_ptram_place(t, place_of, err) ||
	    cpl_tasks_fill(t, place_of, err))
		return -1;
	return cpl_ptram_refine(t, place_of, CPL_PTRAM_SWAPS, true, err) < 0
	               ? -1
	               : 0;
}

const struct cpl_mapper cpl_mapper_ptram_refine = {
        .name = "ptram-refine",
        .summary = "ptram, then swaps that relieve the most loaded link",
        .place = place,
};
