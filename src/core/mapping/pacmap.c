/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "mapping/clusters.h"

/* Clusters tried as the centre at the most; every n-th where there are more. */
#define CENTRES_MAX 256

struct growth {
	struct cpl_clusters *t;
	int *target_of;
	bool *used;   /* [n] targets */
	bool *framed; /* [n] targets on the frame, or once on it */
	int *frame;   /* [n_frame] free targets next to used ones, by age */
	int n_frame;
	double *pull;   /* [n] traffic to mapped clusters */
	double *way;    /* [n] of the shortest paths */
	int *heap, *at; /* [n] */
	int n_heap;
};

static void put(struct growth *s, int at, int cluster)
{
	s->heap[at] = cluster;
	s->at[cluster] = at;
}

static void rise(struct growth *s, int cluster)
{
	int at = s->at[cluster];

	for (; at > 0 && s->way[cluster] < s->way[s->heap[(at - 1) / 2]];
	     at = (at - 1) / 2)
		put(s, at, s->heap[(at - 1) / 2]);
	put(s, at, cluster);
}

static int pop(struct growth *s)
{
	int top = s->heap[0], last = s->heap[--s->n_heap], at = 0;

	s->at[top] = -2;
	if (top == last)
		return top;
	for (;;) {
		int child = 2 * at + 1;

		if (child + 1 < s->n_heap &&
		    s->way[s->heap[child + 1]] < s->way[s->heap[child]])
			child++;
		if (child >= s->n_heap ||
		    s->way[s->heap[child]] >= s->way[last])
			break;
		put(s, at, s->heap[child]);
		at = child;
	}
	put(s, at, last);
	return top;
}

/* Sum of shortest paths from a cluster, edges of length 1 / bytes; stops above
 * `most`. Each cluster that is not reached counts as infinite. */
static double paths(struct growth *s, int from, double most)
{
	const struct cpl_comm *graph = s->t->graph;
	double sum = 0;
	int reached = 0;

	for (int i = 0; i < s->t->n; i++)
		s->at[i] = -1;
	s->way[from] = 0;
	put(s, 0, from);
	s->n_heap = 1;
	while (s->n_heap && sum < most) {
		int cluster = pop(s);

		sum += s->way[cluster];
		reached++;
		for (int64_t e = graph->row[cluster];
		     e < graph->row[cluster + 1]; e++) {
			int to = graph->to[e];
			double way = s->way[cluster] + 1 / graph->bytes[e];

			if (s->at[to] == -2 ||
			    (s->at[to] >= 0 && s->way[to] <= way))
				continue;
			if (s->at[to] == -1)
				s->at[to] = s->n_heap++;
			s->way[to] = way;
			rise(s, to);
		}
	}
	return reached < s->t->n ? HUGE_VAL : sum;
}

static int centre_cluster(struct growth *s)
{
	int stride = (s->t->n + CENTRES_MAX - 1) / CENTRES_MAX, best = -1;
	double least = HUGE_VAL;

	for (int i = 0; i < s->t->n; i += stride) {
		double sum;

		if (cpl_clusters_expired(s->t))
			break;
		sum = paths(s, i, least);
		if (sum < least) {
			least = sum;
			best = i;
		}
	}
	/* A graph in pieces has no centre. */
	return best >= 0 ? best : cpl_clusters_heaviest(s->t);
}

/* All free targets at the least distance from a used one join the frame. */
static void widen(struct growth *s, int target)
{
	struct cpl_clusters *t = s->t;
	const float *row =
	        cpl_distance_row(&t->distance, t->distance.leaf[target]);
	float least = HUGE_VALF;

	for (int p = 0; p < t->n; p++)
		if (!s->used[p] && row[t->distance.leaf[p]] < least)
			least = row[t->distance.leaf[p]];
	for (int p = 0; p < t->n; p++) {
		if (s->used[p] || s->framed[p] ||
		    row[t->distance.leaf[p]] > least)
			continue;
		s->framed[p] = true;
		s->frame[s->n_frame++] = p;
	}
}

/* The frame's target of least weighted hops to the cluster's partners, then the
 * nearest to the centre, then the oldest. -1: none that fits. */
static int best_of_frame(struct growth *s, int cluster, int centre)
{
	struct cpl_clusters *t = s->t;
	const struct cpl_comm *graph = t->graph;
	double least = 0, near = 0;
	int best = -1;

	for (int i = 0; i < s->n_frame; i++) {
		int p = s->frame[i];
		double cost = 0, hops;

		if (!cpl_clusters_fit(t, cluster, p))
			continue;
		for (int64_t e = graph->row[cluster];
		     e < graph->row[cluster + 1]; e++)
			if (s->target_of[graph->to[e]] >= 0)
				cost += graph->bytes[e] *
				        cpl_clusters_hops(
				                t, s->target_of[graph->to[e]],
				                p);
		hops = cpl_clusters_hops(t, centre, p);
		if (best < 0 || cost < least ||
		    (cost == least && hops < near)) {
			best = p;
			least = cost;
			near = hops;
		}
	}
	return best;
}

static void use(struct growth *s, int cluster, int target)
{
	const struct cpl_comm *graph = s->t->graph;
	int n = 0;

	s->target_of[cluster] = target;
	s->used[target] = true;
	for (int i = 0; i < s->n_frame; i++)
		if (s->frame[i] != target)
			s->frame[n++] = s->frame[i];
	s->n_frame = n;
	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1]; e++)
		s->pull[graph->to[e]] += graph->bytes[e];
	widen(s, target);
}

static int next_cluster(const struct growth *s)
{
	int best = -1;

	for (int i = 0; i < s->t->n; i++)
		if (s->target_of[i] < 0 &&
		    (best < 0 || s->pull[i] > s->pull[best]))
			best = i;
	return best;
}

static void grow(struct growth *s)
{
	struct cpl_clusters *t = s->t;
	int centre = cpl_clusters_centre(t);
	int cluster = centre_cluster(s);

	use(s, cluster, cpl_clusters_nearest(t, cluster, centre, s->used));
	for (int k = 1; k < t->n; k++) {
		int target;

		if (cpl_clusters_expired(t))
			return;
		cluster = next_cluster(s);
		target = best_of_frame(s, cluster, centre);
		if (target < 0)
			target = cpl_clusters_nearest(t, cluster, centre,
			                              s->used);
		use(s, cluster, target);
	}
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	size_t n = (size_t)t->n;
	struct growth s = {.t = t, .target_of = target_of};
	int rc = -1;

	s.used = calloc(n, sizeof(*s.used));
	s.framed = calloc(n, sizeof(*s.framed));
	s.frame = malloc(n * sizeof(*s.frame));
	s.pull = calloc(n, sizeof(*s.pull));
	s.way = malloc(n * sizeof(*s.way));
	s.heap = malloc(n * sizeof(*s.heap));
	s.at = malloc(n * sizeof(*s.at));
	if (!s.used || !s.framed || !s.frame || !s.pull || !s.way || !s.heap ||
	    !s.at) {
		cpl_fail_memory(err);
		goto out;
	}
	grow(&s);
	rc = 0;
out:
	free(s.used);
	free(s.framed);
	free(s.frame);
	free(s.pull);
	free(s.way);
	free(s.heap);
	free(s.at);
	return rc;
}

const struct cpl_mapper cpl_mapper_pacmap = {
        .name = "pacmap",
        .summary = "PaCMap: grow from the centre of the graph and the hosts",
        .assign = assign,
};
