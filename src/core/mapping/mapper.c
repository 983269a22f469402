/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/random.h"
#include "mapping/clusters.h"

/* The search looks at so many graph edges at most, in a second or so. */
#define WORK_MAX 100000000L
/* Unlike in the thesis, rounds are bounded: sideways swaps might never end. */
#define ROUNDS 16
#define PASSES 16

struct interchange {
	struct cpl_clusters *t;
	int *target_of;
	long work;
};

/* Counts the edges of a cluster whose ends would be at most a hop apart with
 * the cluster on `target`, `other` on `its_target` and everything else where it
 * is. */
static int adjacent(struct interchange *s, int cluster, int target, int other,
                    int its_target)
{
	const struct cpl_comm *graph = s->t->graph;
	const struct cpl_distance *d = &s->t->distance;
	const float *row = cpl_clusters_row(s->t, target);
	int n = 0;

	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1];
	     e++) {
		int to = graph->to[e];
		int at = to == other ? its_target : s->target_of[to];

		n += row[d->leaf[at]] <= 1;
	}
	s->work += graph->row[cluster + 1] - graph->row[cluster] + 1;
	return n;
}

/* The edge between the two counts alike before and after. */
static int gain(struct interchange *s, int u, int here, int v)
{
	int a = s->target_of[u], b = s->target_of[v];

	return adjacent(s, u, b, v, a) - here + adjacent(s, v, a, u, b) -
	       adjacent(s, v, b, u, a);
}

static void swap(int *target_of, int u, int v)
{
	int target = target_of[u];

	target_of[u] = target_of[v];
	target_of[v] = target;
}

static bool spent(struct interchange *s)
{
	return s->work > WORK_MAX || cpl_map_expired(s->t->req);
}

/* Each cluster swaps with the one of largest gain, even where that is 0. */
static bool pass(struct interchange *s)
{
	struct cpl_clusters *t = s->t;
	bool improved = false;

	for (int u = 0; u < t->n && !spent(s); u++) {
		int here = adjacent(s, u, s->target_of[u], u, s->target_of[u]);
		int most = -1, best = -1;

		for (int v = 0; v < t->n; v++) {
			int g;

			if (v == u || t->size[v] != t->size[u])
				continue;
			g = gain(s, u, here, v);
			if (g > most) {
				most = g;
				best = v;
			}
		}
		if (best >= 0)
			swap(s->target_of, u, best);
		improved |= most > 0;
	}
	return improved;
}

static long cardinality(struct interchange *s)
{
	long sum = 0;

	for (int u = 0; u < s->t->n; u++)
		sum += adjacent(s, u, s->target_of[u], u, s->target_of[u]);
	return sum / 2;
}

static void jump(struct interchange *s, uint64_t round)
{
	struct cpl_clusters *t = s->t;
	uint64_t n = (uint64_t)t->n, seed = t->req->seed;
	uint64_t stream = CPL_STREAM_MAPPER_ROUND + round;

	for (uint64_t k = 0; k < n; k++) {
		int u = (int)cpl_random_below(seed, stream, 2 * k, n);
		int v = (int)cpl_random_below(seed, stream, 2 * k + 1, n);

		if (t->size[u] == t->size[v])
			swap(s->target_of, u, v);
	}
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	size_t size = (size_t)t->n * sizeof(int);
	struct interchange s = {
	        .t = t, .target_of = cpl_clusters_take(t, sizeof(int))};
	long best = -1;

	if (!s.target_of)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->n; i++)
		target_of[i] = s.target_of[i] = i;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		long found;

		for (int i = 0; i < PASSES && pass(&s); i++)
			;
		found = cardinality(&s);
		if (found <= best)
			break;
		best = found;
		memcpy(target_of, s.target_of, size);
		if (spent(&s))
			break;
		jump(&s, round);
	}
	return 0;
}

const struct cpl_mapper cpl_mapper_mapper = {
        .name = "mapper",
        .summary = "Bokhari: interchange for most partners one hop away",
        .assign = assign,
};
