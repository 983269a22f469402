/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/ptram.h"

/* Each cluster tries this many nearest targets. */
#define NEAREST 7
/* A swap must lower the largest congestion by this share of it. */
#define GAIN 1e-9

struct ptram_refinement {
	struct cpl_clusters *t;
	struct cpl_link_sums sums;
	int *target_of;
	int *cluster_on; /* [n] */
	bool receivers;
};

/* Adds all flows of a cluster where it is, both ways, times `sign`; those with
 * `other` are left out unless that is -1. */
static void flows(struct ptram_refinement *s, int cluster, int other,
                  double sign)
{
	const struct cpl_clusters *t = s->t;
	const struct cpl_comm *comm = t->comm, *graph = t->graph;
	int here = t->node[s->target_of[cluster]];

	for (int64_t e = comm->row[cluster]; e < comm->row[cluster + 1]; e++)
		if (comm->to[e] != other)
			cpl_moves_flow(&s->sums.moves, here,
			               t->node[s->target_of[comm->to[e]]],
			               sign * comm->bytes[e]);
	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1]; e++)
		if (graph->to[e] != other)
			cpl_moves_flow(
			        &s->sums.moves,
			        t->node[s->target_of[graph->to[e]]], here,
			        sign * cpl_clusters_bytes(t, graph->to[e],
			                                  cluster));
}

static void swap(struct ptram_refinement *s, int p, int r)
{
	int target = s->target_of[p];

	s->target_of[p] = s->target_of[r];
	s->target_of[r] = target;
	s->cluster_on[s->target_of[p]] = p;
	s->cluster_on[s->target_of[r]] = r;
}

/* Leaves the loads of the layout with p and r swapped as tentative. */
static void try_swap(struct ptram_refinement *s, int p, int r)
{
	flows(s, p, -1, -1);
	flows(s, r, p, -1);
	swap(s, p, r);
	flows(s, p, -1, 1);
	flows(s, r, p, 1);
}

/* Does p send over the link, or receive where that counts? */
static bool loads_link(struct ptram_refinement *s, int p, int link)
{
	const struct cpl_clusters *t = s->t;
	const struct cpl_comm *comm = t->comm;

	for (int64_t e = comm->row[p]; e < comm->row[p + 1]; e++)
		if (cpl_moves_uses(&s->sums.moves, t->node[s->target_of[p]],
		                   t->node[s->target_of[comm->to[e]]], link))
			return true;
	for (int64_t e = t->graph->row[p];
	     s->receivers && e < t->graph->row[p + 1]; e++) {
		int from = t->graph->to[e];

		if (cpl_clusters_bytes(t, from, p) > 0 &&
		    cpl_moves_uses(&s->sums.moves, t->node[s->target_of[from]],
		                   t->node[s->target_of[p]], link))
			return true;
	}
	return false;
}

/* Lists the NEAREST targets around a target, ties to the first. */
static int nearest(struct ptram_refinement *s, int target, int *near)
{
	struct cpl_clusters *t = s->t;
	const float *row = cpl_clusters_row(t, target);
	const int *leaf = t->distance.leaf;
	int n = 0;

	for (int p = 0; p < t->n; p++) {
		int at;

		if (p == target || t->size[p] != t->size[target] ||
		    (n == NEAREST && row[leaf[p]] >= row[leaf[near[n - 1]]]))
			continue;
		if (n < NEAREST)
			n++;
		for (at = n - 1;
		     at > 0 && row[leaf[p]] < row[leaf[near[at - 1]]]; at--)
			near[at] = near[at - 1];
		near[at] = p;
	}
	return n;
}

/* Makes the best swap of a pass. False: none lowers the largest congestion. */
static bool pass(struct ptram_refinement *s)
{
	int link = cpl_link_sums_hottest(&s->sums), best[2] = {-1, -1};
	double least = s->sums.max * (1 - GAIN);

	if (link < 0)
		return false;
	for (int target = 0; target < s->t->n; target++) {
		int p = s->cluster_on[target], near[NEAREST], n;

		if (cpl_map_expired(s->t->req))
			return false;
		if (!loads_link(s, p, link))
			continue;
		n = nearest(s, target, near);
		for (int k = 0; k < n; k++) {
			int r = s->cluster_on[near[k]];
			double max;

			try_swap(s, p, r);
			max = cpl_link_sums_max(&s->sums);
			cpl_moves_undo(&s->sums.moves);
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

int cpl_ptram_refine(struct cpl_clusters *t, int *target_of, int max_swaps,
                     bool receivers, struct cpl_error *err)
{
	struct ptram_refinement s = {.t = t,
	                             .target_of = target_of,
	                             .cluster_on =
	                                     cpl_clusters_take(t, sizeof(int)),
	                             .receivers = receivers};
	int n = 0;

	if (!s.cluster_on)
		return cpl_fail_memory(err);
	if (cpl_link_sums_init(&s.sums, t->req, err))
		return -1;
	for (int i = 0; i < t->n; i++)
		s.cluster_on[target_of[i]] = i;
	for (int i = 0; i < t->n; i++) {
		const struct cpl_comm *comm = t->comm;

		for (int64_t e = comm->row[i]; e < comm->row[i + 1]; e++)
			cpl_moves_flow(&s.sums.moves, t->node[target_of[i]],
			               t->node[target_of[comm->to[e]]],
			               comm->bytes[e]);
	}
	cpl_link_sums_keep(&s.sums);
	while (n < max_swaps && pass(&s))
		n++;
	cpl_link_sums_free(&s.sums);
	return n;
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	if (cpl_ptram_assign(t, target_of, err) ||
	    cpl_clusters_fill(t, target_of, err))
		return -1;
	return cpl_ptram_refine(t, target_of, CPL_PTRAM_SWAPS, true, err) < 0
	               ? -1
	               : 0;
}

const struct cpl_mapper cpl_mapper_ptram_refine = {
        .name = "ptram-refine",
        .summary = "ptram, then swaps that relieve the most loaded link",
        .assign = assign,
};
