/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/fhgreedy.h"

#include <stdlib.h>
#include <string.h>

struct state {
	struct cpl_tasks *t;
	int *place_of;
	bool *used;    /* [n] places */
	double *pull;  /* [n] traffic of a task to mapped ones, -1: mapped */
	double *cost;  /* [n] of the task at hand on each place */
	float *level;  /* [n] hops to the nearest partner, or used place */
	int *distance; /* [n] breadth-first in the task graph */
	int *queue;    /* [n] */
};

/* The unmapped task farthest from the mapped ones; those that cannot be
 * reached are the farthest. Ties to the first. */
static int farthest_task(struct state *s)
{
	const struct cpl_comm *graph = s->t->graph;
	int head = 0, tail = 0, best = -1, most = -1;

	for (int i = 0; i < s->t->n; i++) {
		s->distance[i] = s->place_of[i] >= 0 ? 0 : s->t->n;
		if (s->place_of[i] >= 0)
			s->queue[tail++] = i;
	}
	while (head < tail) {
		int task = s->queue[head++];

		for (int64_t e = graph->row[task]; e < graph->row[task + 1];
		     e++) {
			if (s->distance[graph->to[e]] < s->t->n ||
			    s->place_of[graph->to[e]] >= 0)
				continue;
			s->distance[graph->to[e]] = s->distance[task] + 1;
			s->queue[tail++] = graph->to[e];
		}
	}
	for (int i = 0; i < s->t->n; i++)
		if (s->place_of[i] < 0 && s->distance[i] > most) {
			most = s->distance[i];
			best = i;
		}
	return best;
}

static int heaviest_task(const struct state *s)
{
	int best = -1;

	for (int i = 0; i < s->t->n; i++)
		if (s->place_of[i] < 0 &&
		    (best < 0 || s->pull[i] > s->pull[best]))
			best = i;
	return best;
}

/* Of the free places whose nearest used one is farthest, the first. */
static int far_place(struct state *s, int task)
{
	struct cpl_tasks *t = s->t;
	int best = -1;

	for (int p = 0; p < t->n; p++)
		s->level[p] = 0;
	for (int q = 0, first = 1; q < t->n; q++) {
		const float *row;

		if (!s->used[q])
			continue;
		row = cpl_distance_row(&t->distance, t->distance.spot[q]);
		for (int p = 0; p < t->n; p++) {
			float hops = row[t->distance.spot[p]];

			if (first || hops < s->level[p])
				s->level[p] = hops;
		}
		first = 0;
	}
	for (int p = 0; p < t->n; p++)
		if (!s->used[p] && cpl_tasks_fit(t, task, p) &&
		    (best < 0 || s->level[p] > s->level[best]))
			best = p;
	return best;
}

/* The first level around the partners that has free places; there the least
 * weighted hops, then the first. */
static int best_place(struct state *s, int task)
{
	struct cpl_tasks *t = s->t;
	const struct cpl_comm *graph = t->graph;
	int n = 0, best = -1;

	for (int64_t e = graph->row[task]; e < graph->row[task + 1]; e++) {
		int at = s->place_of[graph->to[e]];
		const float *row;

		if (at < 0)
			continue;
		row = cpl_distance_row(&t->distance, t->distance.spot[at]);
		for (int p = 0; p < t->n; p++) {
			float hops = row[t->distance.spot[p]];

			if (!n || hops < s->level[p])
				s->level[p] = hops;
			s->cost[p] = (n ? s->cost[p] : 0) +
			             graph->bytes[e] * (double)hops;
		}
		n++;
	}
	if (!n)
		return far_place(s, task);
	for (int p = 0; p < t->n; p++) {
		if (s->used[p] || !cpl_tasks_fit(t, task, p))
			continue;
		if (best < 0 || s->level[p] < s->level[best] ||
		    (s->level[p] == s->level[best] &&
		     s->cost[p] < s->cost[best]))
			best = p;
	}
	return best;
}

/* One run with the first n_far tasks after the start taken from afar. */
static void run(struct state *s, int n_far)
{
	struct cpl_tasks *t = s->t;
	const struct cpl_comm *graph = t->graph;

	for (int i = 0; i < t->n; i++) {
		s->place_of[i] = -1;
		s->used[i] = false;
		s->pull[i] = 0;
	}
	for (int k = 0; k < t->n; k++) {
		int task = k == 0       ? cpl_tasks_heaviest(t)
		           : k <= n_far ? farthest_task(s)
		                        : heaviest_task(s);
		int place = best_place(s, task);

		s->place_of[task] = place;
		s->used[place] = true;
		for (int64_t e = graph->row[task]; e < graph->row[task + 1];
		     e++)
			s->pull[graph->to[e]] += graph->bytes[e];
		if (k % 16 == 15 && cpl_tasks_expired(t))
			return;
	}
}

static int better_run(struct state *s, int *place_of, struct cpl_error *err)
{
	size_t size = (size_t)s->t->n * sizeof(*place_of);
	double first;

	run(s, 0);
	if (cpl_tasks_fill(s->t, s->place_of, err))
		return -1;
	memcpy(place_of, s->place_of, size);
	if (cpl_tasks_expired(s->t))
		return 0;
	first = cpl_tasks_hop_bytes(s->t, place_of);
	run(s, 1);
	if (cpl_tasks_fill(s->t, s->place_of, err))
		return -1;
	if (cpl_tasks_hop_bytes(s->t, s->place_of) < first)
		memcpy(place_of, s->place_of, size);
	return 0;
}

int cpl_fhgreedy_place(struct cpl_tasks *t, int *place_of,
                       struct cpl_error *err)
{
	size_t n = (size_t)t->n;
	struct state s = {.t = t};
	int rc = -1;

	s.place_of = malloc(n * sizeof(*s.place_of));
	s.used = malloc(n * sizeof(*s.used));
	s.pull = malloc(n * sizeof(*s.pull));
	s.cost = calloc(n, sizeof(*s.cost));
	s.level = calloc(n, sizeof(*s.level));
	s.distance = malloc(n * sizeof(*s.distance));
	s.queue = malloc(n * sizeof(*s.queue));
	if (!s.place_of || !s.used || !s.pull || !s.cost || !s.level ||
	    !s.distance || !s.queue)
		cpl_fail_memory(err);
	else
		rc = better_run(&s, place_of, err);
	free(s.place_of);
	free(s.used);
	free(s.pull);
	free(s.cost);
	free(s.level);
	free(s.distance);
	free(s.queue);
	return rc;
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	return cpl_tasks_map(req, rank_host, cpl_fhgreedy_place, err);
}

const struct cpl_mapper cpl_mapper_fhgreedy = {
        .name = "fhgreedy",
        .summary = "Deveci: heaviest partner next, breadth-first for a host",
        .map = map,
};
