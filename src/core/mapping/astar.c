/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "mapping/mappers.h"
#include "mapping/clusters.h"

/* The search looks at this many partial layouts, all of 9 clusters. */
#define NODES_MAX 2000000L

struct tree_search {
	struct cpl_clusters *t;
	int *order;     /* [n] clusters, each after a partner if it has any */
	int *target_of; /* [n] the layout at hand */
	int *best;     /* [n] */
	double least;  /* hop-bytes of best */
	bool *used;
	double *hops;    /* [n * n] between targets */
	double shortest; /* the fewest hops between two targets */
	double *rest;    /* [n + 1] traffic of clusters order[k ..] with each
	                  * other and with those before */
	long nodes;
};

/* The next cluster has the heaviest traffic to those before it, then in all. */
static void make_order(struct tree_search *s)
{
	const struct cpl_comm *graph = s->t->graph;
	int n = s->t->n;

	for (int i = 0; i < n; i++)
		s->target_of[i] = -1;
	for (int k = 0; k < n; k++) {
		double most[2] = {0, 0};
		int pick = -1;

		for (int i = 0; i < n; i++) {
			double pull = 0, all = 0;

			if (s->target_of[i] >= 0)
				continue;
			for (int64_t e = graph->row[i]; e < graph->row[i + 1];
			     e++) {
				all += graph->bytes[e];
				if (s->target_of[graph->to[e]] >= 0)
					pull += graph->bytes[e];
			}
			if (pick < 0 || pull > most[0] ||
			    (pull == most[0] && all > most[1])) {
				pick = i;
				most[0] = pull;
				most[1] = all;
			}
		}
		s->order[k] = pick;
		s->target_of[pick] = k;
		s->rest[k] = most[0];
	}
	for (int k = n - 1; k >= 0; k--)
		s->rest[k] += s->rest[k + 1];
}

static void descend(struct tree_search *s, int k, double cost)
{
	const struct cpl_comm *graph = s->t->graph;
	int n = s->t->n, cluster;

	if (k == n) {
		s->least = cost;
		memcpy(s->best, s->target_of, (size_t)n * sizeof(*s->best));
		return;
	}
	cluster = s->order[k];
	for (int p = 0; p < n; p++) {
		double more = cost;

		if (s->used[p] || !cpl_clusters_fit(s->t, cluster, p))
			continue;
		if (s->nodes++ > NODES_MAX ||
		    (s->nodes % 1024 == 0 && cpl_map_expired(s->t->req))) {
			s->nodes = NODES_MAX + 1;
			return;
		}
		for (int64_t e = graph->row[cluster];
		     e < graph->row[cluster + 1]; e++)
			if (s->target_of[graph->to[e]] >= 0)
				more += graph->bytes[e] *
				        s->hops[s->target_of[graph->to[e]] * n +
				                p];
		/* What is not placed yet travels at least the shortest path. */
		if (more + s->rest[k + 1] * s->shortest >= s->least)
			continue;
		s->used[p] = true;
		s->target_of[cluster] = p;
		descend(s, k + 1, more);
		s->target_of[cluster] = -1;
		s->used[p] = false;
	}
}

static void search_all(struct tree_search *s)
{
	struct cpl_clusters *t = s->t;
	int n = t->n;

	for (int a = 0; a < n; a++) {
		for (int b = 0; b < n; b++) {
			double hops = cpl_clusters_hops(t, a, b);

			s->hops[a * n + b] = hops;
			if (a != b && (a + b == 1 || hops < s->shortest))
				s->shortest = hops;
		}
	}
	make_order(s);
	for (int i = 0; i < n; i++) {
		s->best[i] = i;
		s->target_of[i] = -1;
	}
	s->least = cpl_clusters_hop_bytes(t, s->best);
	descend(s, 0, 0);
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	struct tree_search s = {.t = t, .best = target_of};

	/* The search could not get beyond the default order. */
	if (t->n > CPL_ASTAR_TASKS_MAX)
		return 0;
	s.order = cpl_clusters_take(t, sizeof(int));
	s.target_of = cpl_clusters_take(t, sizeof(int));
	s.used = cpl_clusters_take(t, sizeof(bool));
	s.hops = cpl_arena_take(&t->arena, t->n * t->n, sizeof(double));
	s.rest = cpl_arena_take(&t->arena, t->n + 1, sizeof(double));
	if (t->arena.failed)
		return cpl_fail_memory(err);
	search_all(&s);
	return 0;
}

const struct cpl_mapper cpl_mapper_astar = {
        .name = "astar",
        .summary = "branch and bound: fewest hop-bytes on a dozen hosts",
        .assign = assign,
};
