/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/ptram.h"

#include <stdlib.h>

#include "base/parallel.h"

/* Values this close are equal, as sums over equal routes are rounded. */
#define SAME 1e-12

/* Threads pay for so many flows of a step; they take candidates in chunks. */
#define MANY_FLOWS 8192
#define CHUNK 32
#define THREADS_MAX 16

/* A mapped cluster with which the next one has traffic. */
struct partner {
	int node;
	double to, from; /* bytes */
};

struct ptram {
	struct cpl_clusters *t;
	struct cpl_link_sums sums;
	struct cpl_link_sums *view; /* [n_views] one for each other thread */
	int n_views;
	bool views_made;
	int *target_of;
	bool *used;
	int *tried;              /* [leaves] last cluster tried there */
	double *mapped;          /* [n] traffic with mapped clusters */
	double *unmapped;        /* [n] traffic with unmapped clusters */
	struct partner *partner; /* [n_partners] of the cluster at hand */
	int n_partners;
	int *candidate; /* [n_candidates] targets */
	int n_candidates;
	double *value; /* [n_candidates] hybrid metric there */
};

static int next_cluster(const struct ptram *s, int n_mapped)
{
	double alpha = 1.0 / (n_mapped + 1), most = 0;
	int best = -1;

	for (int q = 0; q < s->t->n; q++) {
		double delta = s->mapped[q] + alpha * s->unmapped[q];

		if (s->target_of[q] >= 0 || (best >= 0 && delta <= most))
			continue;
		best = q;
		most = delta;
	}
	return best;
}

/* The graph tells the partners, and the directed matrix the bytes each way. */
static void find_partners(struct ptram *s, int cluster)
{
	const struct cpl_clusters *t = s->t;
	const struct cpl_comm *graph = t->graph;

	s->n_partners = 0;
	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1];
	     e++) {
		int other = graph->to[e];

		if (s->target_of[other] >= 0)
			s->partner[s->n_partners++] = (struct partner){
			        .node = t->node[s->target_of[other]],
			        .to = cpl_clusters_bytes(t, cluster, other),
			        .from = cpl_clusters_bytes(t, other, cluster),
			};
	}
}

/* Adds the flows that the cluster at hand would have on `target`. */
static void add_flows(const struct ptram *s, struct cpl_link_sums *sums,
                      int target)
{
	int node = s->t->node[target];

	for (int i = 0; i < s->n_partners; i++)
		if (s->partner[i].to > 0)
			cpl_moves_flow(&sums->moves, node, s->partner[i].node,
			               s->partner[i].to);
	for (int i = 0; i < s->n_partners; i++)
		if (s->partner[i].from > 0)
			cpl_moves_flow(&sums->moves, s->partner[i].node, node,
			               s->partner[i].from);
}

static void evaluate(void *arg, int64_t chunk, int thread)
{
	struct ptram *s = arg;
	struct cpl_link_sums *sums = thread ? &s->view[thread - 1] : &s->sums;
	int first = (int)chunk * CHUNK, end = first + CHUNK;

	if (end > s->n_candidates)
		end = s->n_candidates;
	for (int i = first; i < end; i++) {
		add_flows(s, sums, s->candidate[i]);
		s->value[i] = cpl_link_sums_hybrid(sums);
		cpl_moves_undo(&sums->moves);
	}
}

/* Where memory for views is out, fewer threads do the work. */
static void make_views(struct ptram *s)
{
	int n = s->t->req->threads < THREADS_MAX ? s->t->req->threads
	                                         : THREADS_MAX;
	struct cpl_error ignored;

	if (s->views_made)
		return;
	s->views_made = true;
	if (n < 2)
		return;
	s->view = calloc((size_t)n - 1, sizeof(*s->view));
	while (s->view && s->n_views < n - 1 &&
	       !cpl_link_sums_view(&s->sums, &s->view[s->n_views], &ignored))
		s->n_views++;
}

static int best_target(struct ptram *s, int cluster)
{
	int threads = 1, best = 0;

	s->n_candidates = 0;
	for (int p = 0; p < s->t->n; p++) {
		if (s->used[p] || !cpl_clusters_fit(s->t, cluster, p) ||
		    s->tried[s->t->distance.leaf[p]] == cluster)
			continue;
		/* Nodes of one router have the same routes: one is enough. */
		s->tried[s->t->distance.leaf[p]] = cluster;
		s->candidate[s->n_candidates++] = p;
	}
	if ((int64_t)s->n_candidates * s->n_partners >= MANY_FLOWS) {
		make_views(s);
		threads = 1 + s->n_views;
		for (int i = 0; i < s->n_views; i++)
			cpl_link_sums_follow(&s->view[i], &s->sums);
	}
	cpl_parallel(threads, (s->n_candidates + CHUNK - 1) / CHUNK, evaluate,
	             s);
	for (int i = 1; i < s->n_candidates; i++)
		if (s->value[i] < s->value[best] - SAME * s->value[best])
			best = i;
	return s->candidate[best];
}

static void put_cluster(struct ptram *s, int cluster, int target)
{
	const struct cpl_comm *graph = s->t->graph;

	add_flows(s, &s->sums, target);
	cpl_link_sums_keep(&s->sums);
	s->target_of[cluster] = target;
	s->used[target] = true;
	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1];
	     e++) {
		s->mapped[graph->to[e]] += graph->bytes[e];
		s->unmapped[graph->to[e]] -= graph->bytes[e];
	}
}

static void map_clusters(struct ptram *s)
{
	const struct cpl_comm *graph = s->t->graph;

	for (int q = 0; q < s->t->n; q++)
		for (int64_t e = graph->row[q]; e < graph->row[q + 1]; e++)
			s->unmapped[q] += graph->bytes[e];
	for (int k = 0; k < s->t->n; k++) {
		int cluster;

		if (cpl_map_expired(s->t->req))
			return;
		cluster = next_cluster(s, k);
		find_partners(s, cluster);
		put_cluster(s, cluster, best_target(s, cluster));
	}
}

int cpl_ptram_assign(struct cpl_clusters *t, int *target_of,
                     struct cpl_error *err)
{
	struct ptram s = {
	        .t = t,
	        .target_of = target_of,
	        .used = cpl_clusters_take(t, sizeof(bool)),
	        .tried = cpl_clusters_take(t, sizeof(int)),
	        .mapped = cpl_clusters_take(t, sizeof(double)),
	        .unmapped = cpl_clusters_take(t, sizeof(double)),
	        .partner = cpl_clusters_take(t, sizeof(struct partner)),
	        .candidate = cpl_clusters_take(t, sizeof(int)),
	        .value = cpl_clusters_take(t, sizeof(double)),
	};

	if (t->arena.failed)
		return cpl_fail_memory(err);
	if (cpl_link_sums_init(&s.sums, t->req, err))
		return -1;
	for (int i = 0; i < t->n; i++)
		s.tried[i] = -1;
	map_clusters(&s);
	for (int i = 0; i < s.n_views; i++)
		cpl_link_sums_free(&s.view[i]);
	free(s.view);
	cpl_link_sums_free(&s.sums);
	return 0;
}

const struct cpl_mapper cpl_mapper_ptram = {
        .name = "ptram",
        .summary = "PTRAM: greedy on hop-bytes and link loads of the routing",
        .assign = cpl_ptram_assign,
};
