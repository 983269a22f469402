/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/fhgreedy.h"

#include <stdlib.h>
#include <string.h>

#include "graph/heap.h"

/* Partners up to which a search near them is worth it, and the share of the
 * targets after which it is not. */
#define RING_PARTNERS 32
#define RING_SHARE 8

struct state {
	struct cpl_clusters *t;
	int *target_of;
	bool *used;           /* [n] targets */
	double *pull;         /* [n] traffic of a cluster to mapped ones */
	struct cpl_heap heap; /* unmapped clusters by pull */
	double *cost;         /* [n] of the cluster at hand on each target */
	float *level;         /* [n] hops to the nearest partner */
	int *distance;        /* [n] breadth-first in the cluster graph */
	int *queue;           /* [n] */
	int *placed;          /* [n] targets in the order they were used */
	int n_placed, n_seen;
	float *far;    /* [n] hops to the nearest of placed[0 .. n_seen - 1] */
	int *at;       /* [n] targets of the partners of a cluster */
	double *bytes; /* [n] what it sends them */
};

/* The unmapped cluster farthest from the mapped ones; those that cannot be
 * reached are the farthest. Ties to the first. */
static int farthest_cluster(struct state *s)
{
	const struct cpl_comm *graph = s->t->graph;
	int head = 0, tail = 0, best = -1, most = -1;

	for (int i = 0; i < s->t->n; i++) {
		s->distance[i] = s->target_of[i] >= 0 ? 0 : s->t->n;
		if (s->target_of[i] >= 0)
			s->queue[tail++] = i;
	}
	while (head < tail) {
		int cluster = s->queue[head++];

		for (int64_t e = graph->row[cluster];
		     e < graph->row[cluster + 1]; e++) {
			if (s->distance[graph->to[e]] < s->t->n ||
			    s->target_of[graph->to[e]] >= 0)
				continue;
			s->distance[graph->to[e]] = s->distance[cluster] + 1;
			s->queue[tail++] = graph->to[e];
		}
	}
	for (int i = 0; i < s->t->n; i++)
		if (s->target_of[i] < 0 && s->distance[i] > most) {
			most = s->distance[i];
			best = i;
		}
	return best;
}

/* Of the free targets whose nearest used one is farthest, the first. */
static int far_target(struct state *s, int cluster)
{
	struct cpl_clusters *t = s->t;
	int best = -1;

	for (; s->n_seen < s->n_placed; s->n_seen++) {
		int q = s->placed[s->n_seen];
		const float *row =
		        cpl_distance_row(&t->distance, t->distance.leaf[q]);

		for (int p = 0; p < t->n; p++) {
			float hops = row[t->distance.leaf[p]];

			if (s->n_seen == 0 || hops < s->far[p])
				s->far[p] = hops;
		}
	}
	for (int p = 0; p < t->n; p++)
		if (!s->used[p] && cpl_clusters_fit(t, cluster, p) &&
		    (best < 0 || s->far[p] > s->far[best]))
			best = p;
	return best;
}

/*
 * The first level around the partners that has free targets; there the least
 * weighted hops, then the first. target[n], bytes[n]: where partners are.
 */
static int search_all(struct state *s, int cluster, const int *target,
                      const double *bytes, int n)
{
	struct cpl_clusters *t = s->t;
	int best = -1;

	for (int k = 0; k < n; k++) {
		const float *row = cpl_distance_row(
		        &t->distance, t->distance.leaf[target[k]]);

		for (int p = 0; p < t->n; p++) {
			float hops = row[t->distance.leaf[p]];

			if (!k || hops < s->level[p])
				s->level[p] = hops;
			s->cost[p] =
			        (k ? s->cost[p] : 0) + bytes[k] * (double)hops;
		}
	}
	for (int p = 0; p < t->n; p++) {
		if (s->used[p] || !cpl_clusters_fit(t, cluster, p))
			continue;
		if (best < 0 || s->level[p] < s->level[best] ||
		    (s->level[p] == s->level[best] &&
		     s->cost[p] < s->cost[best]))
			best = p;
	}
	return best;
}

/* The same by rings around each partner; -1: gave up. */
static int search_rings(struct state *s, int cluster, const int *target,
                        const double *bytes, int n)
{
	struct cpl_clusters *t = s->t;
	const struct cpl_rings *rings = &t->rings;
	const int *leaf = t->distance.leaf;

	for (int l = 0; l <= rings->max; l++) {
		int64_t end = rings->start[l + 1];
		double least = 0;
		int best = -1;

		if (rings->start[l] * n > t->n / RING_SHARE)
			return -1;
		for (int64_t i = rings->start[l] * n; i < end * n; i++) {
			int at = cpl_rings_leaf(rings, leaf[target[i % n]],
			                        i / n);

			for (int p = at < 0 ? -1 : t->first_on[at]; p >= 0;
			     p = t->next_on[p]) {
				double cost = 0;

				if (s->used[p] ||
				    !cpl_clusters_fit(t, cluster, p))
					continue;
				for (int k = 0; k < n; k++)
					cost += bytes[k] *
					        cpl_clusters_hops(t, target[k],
					                          p);
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

static int best_target(struct state *s, int cluster)
{
	struct cpl_clusters *t = s->t;
	const struct cpl_comm *graph = t->graph;
	int n = 0, best = -1;

	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1];
	     e++) {
		if (s->target_of[graph->to[e]] < 0)
			continue;
		s->at[n] = s->target_of[graph->to[e]];
		s->bytes[n++] = graph->bytes[e];
	}
	if (!n)
		return far_target(s, cluster);
	if (t->rings.distance && n <= RING_PARTNERS)
		best = search_rings(s, cluster, s->at, s->bytes, n);
	return best >= 0 ? best : search_all(s, cluster, s->at, s->bytes, n);
}

/* One run with the first n_far clusters after the start taken from afar. */
static void run(struct state *s, int n_far)
{
	struct cpl_clusters *t = s->t;
	const struct cpl_comm *graph = t->graph;

	cpl_heap_clear(&s->heap);
	for (int i = 0; i < t->n; i++) {
		s->target_of[i] = -1;
		s->used[i] = false;
		s->pull[i] = 0;
		s->far[i] = 0;
	}
	s->n_placed = s->n_seen = 0;
	for (int i = 0; i < t->n; i++)
		cpl_heap_push(&s->heap, i);
	for (int k = 0; k < t->n; k++) {
		int cluster = k == 0       ? cpl_clusters_heaviest(t)
		              : k <= n_far ? farthest_cluster(s)
		                           : s->heap.item[0];
		int target = best_target(s, cluster);

		s->target_of[cluster] = target;
		s->used[target] = true;
		s->placed[s->n_placed++] = target;
		cpl_heap_remove(&s->heap, cluster);
		for (int64_t e = graph->row[cluster];
		     e < graph->row[cluster + 1]; e++) {
			int to = graph->to[e];

			s->pull[to] += graph->bytes[e];
			if (cpl_heap_has(&s->heap, to))
				cpl_heap_update(&s->heap, to);
		}
		if (k % 16 == 15 && cpl_clusters_expired(t))
			return;
	}
}

static int better_run(struct state *s, int *target_of, struct cpl_error *err)
{
	size_t size = (size_t)s->t->n * sizeof(*target_of);
	double first;

	run(s, 0);
	if (cpl_clusters_fill(s->t, s->target_of, err))
		return -1;
	memcpy(target_of, s->target_of, size);
	if (cpl_clusters_expired(s->t))
		return 0;
	first = cpl_clusters_hop_bytes(s->t, target_of);
	run(s, 1);
	if (cpl_clusters_fill(s->t, s->target_of, err))
		return -1;
	if (cpl_clusters_hop_bytes(s->t, s->target_of) < first)
		memcpy(target_of, s->target_of, size);
	return 0;
}

int cpl_fhgreedy_assign(struct cpl_clusters *t, int *target_of,
                        struct cpl_error *err)
{
	size_t n = (size_t)t->n;
	struct state s = {.t = t};
	int rc = -1;

	s.target_of = malloc(n * sizeof(*s.target_of));
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
	if (!s.target_of || !s.used || !s.pull || !s.cost || !s.level ||
	    !s.distance || !s.queue || !s.at || !s.bytes || !s.placed || !s.far)
		cpl_fail_memory(err);
	else if (!cpl_heap_init(&s.heap, t->n, s.pull, err))
		rc = better_run(&s, target_of, err);
	free(s.target_of);
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
        .assign = cpl_fhgreedy_assign,
};
