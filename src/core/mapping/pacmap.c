/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "graph/heap.h"
#include "mapping/clusters.h"

/* So many clusters are tried as the centre; of more every n-th. */
#define CENTRES_MAX 256

struct growth {
	struct cpl_clusters *t;
	int *target_of;
	bool *used;   /* [n] targets */
	bool *framed; /* [n] targets that are or were on the frame */
	int *frame;   /* [n_frame] free targets next to used ones, oldest
	               * first */
	int n_frame;
	double *pull;   /* [n] traffic to mapped clusters */
	double *way;    /* [n] length of the shortest path, negated */
	struct cpl_heap heap; /* clusters by way */
};

/* Adds up the shortest paths from a cluster, with edges of length 1 / bytes,
 * until the sum exceeds `most`. It is infinite where a cluster is not
 * reached. */
static double paths(struct growth *s, int from, double most)
{
	const struct cpl_comm *graph = s->t->graph;
	double sum = 0;
	int reached = 0;

	for (int i = 0; i < s->t->n; i++)
		s->way[i] = -HUGE_VAL;
	s->way[from] = 0;
	cpl_heap_clear(&s->heap);
	cpl_heap_push(&s->heap, from);
	while (s->heap.n && sum < most) {
		int cluster = s->heap.item[0];

		cpl_heap_remove(&s->heap, cluster);
		sum -= s->way[cluster];
		reached++;
		for (int64_t e = graph->row[cluster];
		     e < graph->row[cluster + 1]; e++) {
			int to = graph->to[e];
			double way = s->way[cluster] - 1 / graph->bytes[e];

			if (way <= s->way[to])
				continue;
			s->way[to] = way;
			if (cpl_heap_has(&s->heap, to))
				cpl_heap_raise(&s->heap, to);
			else
				cpl_heap_push(&s->heap, to);
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

		if (cpl_map_expired(s->t->req))
			break;
		sum = paths(s, i, least);
		if (sum < least) {
			least = sum;
			best = i;
		}
	}
	/* A graph in pieces has no centre. */
	return best >= 0 ? best : cpl_comm_heaviest(s->t->graph);
}

/* All free targets at the least distance from a used one join the frame. */
static void widen(struct growth *s, int target)
{
	struct cpl_clusters *t = s->t;
	const float *row = cpl_clusters_row(t, target);
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
 * nearest to the centre, then the oldest; -1 where none fits. */
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

	use(s, cluster,
	    cpl_clusters_put(t, cluster, centre, s->target_of, s->used));
	for (int k = 1; k < t->n; k++) {
		int target;

		if (cpl_map_expired(t->req))
			return;
		cluster = next_cluster(s);
		target = best_of_frame(s, cluster, centre);
		if (target < 0)
			target = cpl_clusters_put(t, cluster, centre,
			                          s->target_of, s->used);
		use(s, cluster, target);
	}
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	struct growth s = {
	        .t = t,
	        .target_of = target_of,
	        .used = cpl_clusters_take(t, sizeof(bool)),
	        .framed = cpl_clusters_take(t, sizeof(bool)),
	        .frame = cpl_clusters_take(t, sizeof(int)),
	        .pull = cpl_clusters_take(t, sizeof(double)),
	        .way = cpl_clusters_take(t, sizeof(double)),
	};

	if (t->arena.failed)
		return cpl_fail_memory(err);
	if (cpl_heap_init(&s.heap, t->n, s.way, err))
		return -1;
	grow(&s);
	cpl_heap_free(&s.heap);
	return 0;
}

const struct cpl_mapper cpl_mapper_pacmap = {
        .name = "pacmap",
        .summary = "PaCMap: grow from the centre of the graph and the hosts",
        .assign = assign,
};
