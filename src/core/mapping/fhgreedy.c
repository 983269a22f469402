/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "graph/heap.h"
#include "mapping/ptram.h"

/* A search near the partners pays up to this number of partners, and gives up
 * after one in so many of the targets. */
#define RING_PARTNERS 32
#define RING_SHARE 8

struct fhgreedy {
	struct cpl_clusters *t;
	int *target_of;
	bool *used;           /* [n] targets */
	double *pull;         /* [n] traffic of a cluster with mapped ones */
	struct cpl_heap heap; /* unmapped clusters by pull */
	double *cost;         /* [n] of the cluster at hand on each target */
	float *level;         /* [n] hops to the nearest partner */
	int *distance;        /* [n] breadth-first in the cluster graph */
	int *queue;           /* [n] */
	int *placed;          /* [n] targets in the order they were used */
	int n_placed, n_seen;
	float *far;    /* [n] hops to the nearest of placed[0 .. n_seen - 1] */
	int *at;       /* [n] targets of the partners of a cluster */
	double *bytes; /* [n] bytes between the cluster and them */
};

/* The unmapped cluster farthest from the mapped ones, ties to the first; those
 * that cannot be reached count as farthest. */
static int farthest_cluster(struct fhgreedy *s)
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

/* The first of the free targets whose nearest used one is farthest away. */
static int far_target(struct fhgreedy *s, int cluster)
{
	struct cpl_clusters *t = s->t;
	int best = -1;

	for (; s->n_seen < s->n_placed; s->n_seen++) {
		const float *row = cpl_clusters_row(t, s->placed[s->n_seen]);

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

/* Takes the first level around the n partners that has free targets, and there
 * the target of least weighted hops, ties to the first. */
static int search_all(struct fhgreedy *s, int cluster, int n)
{
	struct cpl_clusters *t = s->t;
	int best = -1;

	for (int k = 0; k < n; k++) {
		const float *row = cpl_clusters_row(t, s->at[k]);

		for (int p = 0; p < t->n; p++) {
			float hops = row[t->distance.leaf[p]];

			if (!k || hops < s->level[p])
				s->level[p] = hops;
			s->cost[p] =
			        (k ? s->cost[p] : 0) +
			        s->bytes[k] * (double)hops;
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

/* Does the same by rings around each partner. -1: it gave up. */
static int search_rings(struct fhgreedy *s, int cluster, int n)
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
			int at = cpl_rings_leaf(rings, leaf[s->at[i % n]],
			                        i / n);

			for (int p = at < 0 ? -1 : t->first_on[at]; p >= 0;
			     p = t->next_on[p]) {
				double cost = 0;

				if (s->used[p] ||
				    !cpl_clusters_fit(t, cluster, p))
					continue;
				for (int k = 0; k < n; k++)
					cost += s->bytes[k] *
					        cpl_clusters_hops(t, s->at[k],
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

static int best_target(struct fhgreedy *s, int cluster)
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
		best = search_rings(s, cluster, n);
	return best >= 0 ? best : search_all(s, cluster, n);
}

/* One run that takes the first n_far clusters after the start from afar. */
static void map_clusters(struct fhgreedy *s, int n_far)
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
		int cluster = k == 0       ? cpl_comm_heaviest(graph)
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
				cpl_heap_raise(&s->heap, to);
		}
		if (k % 16 == 15 && cpl_map_expired(t->req))
			return;
	}
}

/* Algorithm 1 with N_BFS 0 and 1; the run of fewer hop-bytes is taken. */
static int better_run(struct fhgreedy *s, int *target_of, struct cpl_error *err)
{
	size_t size = (size_t)s->t->n * sizeof(*target_of);
	double first;

	map_clusters(s, 0);
	if (cpl_clusters_fill(s->t, s->target_of, err))
		return -1;
	memcpy(target_of, s->target_of, size);
	if (cpl_map_expired(s->t->req))
		return 0;
	first = cpl_clusters_hop_bytes(s->t, target_of);
	map_clusters(s, 1);
	if (cpl_clusters_fill(s->t, s->target_of, err))
		return -1;
	if (cpl_clusters_hop_bytes(s->t, s->target_of) < first)
		memcpy(target_of, s->target_of, size);
	return 0;
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	struct fhgreedy s = {
	        .t = t,
	        .target_of = cpl_clusters_take(t, sizeof(int)),
	        .used = cpl_clusters_take(t, sizeof(bool)),
	        .pull = cpl_clusters_take(t, sizeof(double)),
	        .cost = cpl_clusters_take(t, sizeof(double)),
	        .level = cpl_clusters_take(t, sizeof(float)),
	        .distance = cpl_clusters_take(t, sizeof(int)),
	        .queue = cpl_clusters_take(t, sizeof(int)),
	        .placed = cpl_clusters_take(t, sizeof(int)),
	        .far = cpl_clusters_take(t, sizeof(float)),
	        .at = cpl_clusters_take(t, sizeof(int)),
	        .bytes = cpl_clusters_take(t, sizeof(double)),
	};
	int rc;

	if (t->arena.failed)
		return cpl_fail_memory(err);
	if (cpl_heap_init(&s.heap, t->n, s.pull, err))
		return -1;
	rc = better_run(&s, target_of, err);
	cpl_heap_free(&s.heap);
	return rc;
}

static int map_wh(const struct cpl_map_request *req, int *rank_host,
                  struct cpl_error *err)
{
	if (cpl_clusters_map(req, rank_host, assign, err))
		return -1;
	return cpl_map_refine(req, rank_host, err);
}

static int assign_mc(struct cpl_clusters *t, int *target_of,
                     struct cpl_error *err)
{
	if (assign(t, target_of, err))
		return -1;
	return cpl_ptram_refine(t, target_of, t->n, true, err) < 0 ? -1 : 0;
}

const struct cpl_mapper cpl_mapper_fhgreedy = {
        .name = "fhgreedy",
        .summary = "Deveci: heaviest partner next, breadth-first for a host",
        .assign = assign,
};

const struct cpl_mapper cpl_mapper_fhgreedy_wh = {
        .name = "fhgreedy-wh",
        .summary = "fhgreedy, then swaps that lower the hop-bytes",
        .map = map_wh,
};

const struct cpl_mapper cpl_mapper_fhgreedy_mc = {
        .name = "fhgreedy-mc",
        .summary = "fhgreedy, then swaps that relieve the most loaded link",
        .assign = assign_mc,
};
