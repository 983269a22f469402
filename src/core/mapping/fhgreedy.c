/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/fhgreedy.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

/* Partners up to which a search near them is worth it, and the share of the
 * places after which it is not. */
#define RING_PARTNERS 32
#define RING_SHARE 8

struct state {
	struct cpl_tasks *t;
	int *place_of;
	bool *used;           /* [n] places */
	double *pull;         /* [n] traffic of a task to mapped ones */
	struct cpl_heap heap; /* unmapped tasks by pull */
	double *cost;         /* [n] of the task at hand on each place */
	float *level;         /* [n] hops to the nearest partner */
	int *distance;        /* [n] breadth-first in the task graph */
	int *queue;           /* [n] */
	int *placed;          /* [n] places in the order they were used */
	int n_placed, n_seen;
	float *far;    /* [n] hops to the nearest of placed[0 .. n_seen - 1] */
	int *at;       /* [n] places of the partners of a task */
	double *bytes; /* [n] what it sends them */
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

/* Of the free places whose nearest used one is farthest, the first. */
static int far_place(struct state *s, int task)
{
	struct cpl_tasks *t = s->t;
	int best = -1;

	for (; s->n_seen < s->n_placed; s->n_seen++) {
		int q = s->placed[s->n_seen];
		const float *row =
		        cpl_distance_row(&t->distance, t->distance.spot[q]);

		for (int p = 0; p < t->n; p++) {
			float hops = row[t->distance.spot[p]];

			if (s->n_seen == 0 || hops < s->far[p])
				s->far[p] = hops;
		}
	}
	for (int p = 0; p < t->n; p++)
		if (!s->used[p] && cpl_tasks_fit(t, task, p) &&
		    (best < 0 || s->far[p] > s->far[best]))
			best = p;
	return best;
}

/*
 * The first level around the partners that has free places; there the least
 * weighted hops, then the first. place[n], bytes[n]: where partners are.
 */
static int search_all(struct state *s, int task, const int *place,
                      const double *bytes, int n)
{
	struct cpl_tasks *t = s->t;
	int best = -1;

	for (int k = 0; k < n; k++) {
		const float *row = cpl_distance_row(&t->distance,
		                                    t->distance.spot[place[k]]);

		for (int p = 0; p < t->n; p++) {
			float hops = row[t->distance.spot[p]];

			if (!k || hops < s->level[p])
				s->level[p] = hops;
			s->cost[p] =
			        (k ? s->cost[p] : 0) + bytes[k] * (double)hops;
		}
	}
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

/* The same by rings around each partner; -1: gave up. */
static int search_rings(struct state *s, int task, const int *place,
                        const double *bytes, int n)
{
	struct cpl_tasks *t = s->t;
	const struct cpl_rings *rings = &t->rings;
	const int *spot = t->distance.spot;

	for (int l = 0; l <= rings->max; l++) {
		int64_t end = rings->start[l + 1];
		double least = 0;
		int best = -1;

		if (rings->start[l] * n > t->n / RING_SHARE)
			return -1;
		for (int64_t i = rings->start[l] * n; i < end * n; i++) {
			int at = cpl_rings_spot(rings, spot[place[i % n]],
			                        i / n);

			for (int p = at < 0 ? -1 : t->first_on[at]; p >= 0;
			     p = t->next_on[p]) {
				double cost = 0;

				if (s->used[p] || !cpl_tasks_fit(t, task, p))
					continue;
				for (int k = 0; k < n; k++)
					cost += bytes[k] *
					        cpl_tasks_hops(t, place[k], p);
				if (best >= 0 && (cost > least ||
				                  (cost == least && p >= best)))
					continue;
				best = p;
				least = cost;
			}
		}
		if (best >= 0)
			return best;
	}
	return -1;
}

static int best_place(struct state *s, int task)
{
	struct cpl_tasks *t = s->t;
	const struct cpl_comm *graph = t->graph;
	int n = 0, best = -1;

	for (int64_t e = graph->row[task]; e < graph->row[task + 1]; e++) {
		if (s->place_of[graph->to[e]] < 0)
			continue;
		s->at[n] = s->place_of[graph->to[e]];
		s->bytes[n++] = graph->bytes[e];
	}
	if (!n)
		return far_place(s, task);
	if (t->rings.distance && n <= RING_PARTNERS)
		best = search_rings(s, task, s->at, s->bytes, n);
	return best >= 0 ? best : search_all(s, task, s->at, s->bytes, n);
}

/* One run with the first n_far tasks after the start taken from afar. */
static void run(struct state *s, int n_far)
{
	struct cpl_tasks *t = s->t;
	const struct cpl_comm *graph = t->graph;

	cpl_heap_clear(&s->heap);
	for (int i = 0; i < t->n; i++) {
		s->place_of[i] = -1;
		s->used[i] = false;
		s->pull[i] = 0;
		s->far[i] = 0;
	}
	s->n_placed = s->n_seen = 0;
	for (int i = 0; i < t->n; i++)
		cpl_heap_push(&s->heap, i);
	for (int k = 0; k < t->n; k++) {
		int task = k == 0       ? cpl_tasks_heaviest(t)
		           : k <= n_far ? farthest_task(s)
		                        : s->heap.item[0];
		int place = best_place(s, task);

		s->place_of[task] = place;
		s->used[place] = true;
		s->placed[s->n_placed++] = place;
		cpl_heap_remove(&s->heap, task);
		for (int64_t e = graph->row[task]; e < graph->row[task + 1];
		     e++) {
			int to = graph->to[e];

			s->pull[to] += graph->bytes[e];
			if (cpl_heap_has(&s->heap, to))
				cpl_heap_update(&s->heap, to);
		}
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
	s.pull = calloc(n, sizeof(*s.pull));
	s.cost = calloc(n, sizeof(*s.cost));
	s.level = calloc(n, sizeof(*s.level));
	s.distance = malloc(n * sizeof(*s.distance));
	s.queue = malloc(n * sizeof(*s.queue));
	s.placed = malloc(n * sizeof(*s.placed));
	s.far = malloc(n * sizeof(*s.far));
	s.at = malloc(n * sizeof(*s.at));
	s.bytes = malloc(n * sizeof(*s.bytes));
	if (!s.place_of || !s.used || !s.pull || !s.cost || !s.level ||
	    !s.distance || !s.queue || !s.at || !s.bytes || !s.placed || !s.far)
		cpl_fail_memory(err);
	else if (!cpl_heap_init(&s.heap, t->n, s.pull, err))
		rc = better_run(&s, place_of, err);
	free(s.place_of);
	free(s.used);
	free(s.pull);
	free(s.cost);
	free(s.level);
	free(s.distance);
	free(s.queue);
	free(s.at);
	free(s.placed);
	free(s.far);
	free(s.bytes);
	cpl_heap_free(&s.heap);
	return rc;
}

const struct cpl_mapper cpl_mapper_fhgreedy = {
        .name = "fhgreedy",
        .summary = "Deveci: heaviest partner next, breadth-first for a host",
        .place = cpl_fhgreedy_place,
};
