/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/members.h"
#include "mapping/mapping_internal.h"

/* So many multiply-adds are spent at most, in some 50 ms. */
#define WORK_MAX 50000000L
/* Each rank tries so many hosts. */
#define TARGETS 4
#define PASSES 4
/* A swap must gain this share of the two ranks' hop-bytes; otherwise sums that
 * differ in their last bits could swap for ever. */
#define GAIN 1e-9

struct refine {
	const struct cpl_map_request *req;
	struct cpl_distance distance;
	double *cost; /* [leaves] of the rank at hand on that leaf */
	struct cpl_members ranks; /* on hosts */
	long work;
};

/* Computes a rank's hop-bytes on every leaf, its partners where they are. */
static void cost_everywhere(struct refine *s, int rank)
{
	const struct cpl_comm *graph = s->req->graph;
	int n = s->distance.n_leaves;

	for (int i = 0; i < n; i++)
		s->cost[i] = 0;
	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int leaf = s->distance.leaf[s->ranks.set[graph->to[e]]];
		const float *row = cpl_distance_row(&s->distance, leaf);
		double bytes = graph->bytes[e];
		double *cost = s->cost;

		for (int i = 0; i < n; i++)
			cost[i] += bytes * (double)row[i];
		s->work += n;
	}
}

/* What `other` gains by going to `leaf`; *between: its traffic with `rank`. */
static double gain_of(struct refine *s, int other, int leaf, int rank,
                      double *between)
{
	const struct cpl_comm *graph = s->req->graph;
	int here = s->distance.leaf[s->ranks.set[other]];
	double gain = 0;

	*between = 0;
	for (int64_t e = graph->row[other]; e < graph->row[other + 1]; e++) {
		int at = s->distance.leaf[s->ranks.set[graph->to[e]]];
		const float *row = cpl_distance_row(&s->distance, at);

		gain += graph->bytes[e] * (double)(row[here] - row[leaf]);
		if (graph->to[e] == rank)
			*between += graph->bytes[e];
	}
	s->work += graph->row[other + 1] - graph->row[other];
	return gain;
}

/* Picks the TARGETS cheapest hosts that are better than where the rank is. */
static int pick_targets(struct refine *s, int rank, int *target)
{
	const int *leaf = s->distance.leaf;
	double here = s->cost[leaf[s->ranks.set[rank]]];
	int n = 0;

	for (int h = 0; h < s->req->n_hosts; h++) {
		double cost = s->cost[leaf[h]];
		int at;

		if (cost >= here || !s->req->slots[h] ||
		    (n == TARGETS && cost >= s->cost[leaf[target[n - 1]]]))
			continue;
		if (n < TARGETS)
			n++;
		for (at = n - 1; at > 0 && cost < s->cost[leaf[target[at - 1]]];
		     at--)
			target[at] = target[at - 1];
		target[at] = h;
	}
	s->work += s->req->n_hosts;
	return n;
}

static bool improve_rank(struct refine *s, int rank)
{
	int target[TARGETS], n, best = -1;
	const int *leaf = s->distance.leaf;
	double most, here;
	int from = leaf[s->ranks.set[rank]];

	cost_everywhere(s, rank);
	n = pick_targets(s, rank, target);
	here = s->cost[from];
	most = GAIN * here;
	for (int k = 0; k < n; k++) {
		int to = leaf[target[k]];
		const float *row = cpl_distance_row(&s->distance, to);
		double hops = (double)row[from];

		for (int i = s->ranks.first[target[k]];
		     i < s->ranks.first[target[k] + 1]; i++) {
			const int *weight = s->req->weight;
			double between, gain;

			if (weight &&
			    weight[s->ranks.member[i]] != weight[rank])
				continue;
			gain = gain_of(s, s->ranks.member[i], from, rank,
			               &between);
			/* The pair's own distance stays as it is, but both
			 * sides counted it as gone. */
			gain += here - s->cost[to] - 2 * between * hops;
			if (gain > most) {
				most = gain;
				best = s->ranks.member[i];
			}
		}
	}
	if (best < 0)
		return false;
	cpl_members_swap(&s->ranks, rank, best);
	return true;
}

static void passes(struct refine *s)
{
	const struct cpl_map_request *req = s->req;
	bool gained = true;

	for (int pass = 0; pass < PASSES && gained; pass++) {
		gained = false;
		for (int r = 0; r < req->graph->ranks; r++) {
			if (s->work > WORK_MAX || cpl_map_expired(req))
				return;
			gained |= improve_rank(s, r);
		}
	}
}

int cpl_map_refine(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err)
{
	struct refine s = {.req = req};
	struct cpl_arena arena = {0};
	int rc = -1;

	if (cpl_distance_init(&s.distance, req->net, req->routing, req->host,
	                      req->n_hosts, err))
		return -1;
	s.cost = cpl_arena_take(&arena, s.distance.n_leaves, sizeof(*s.cost));
	if (!arena.failed &&
	    !cpl_members_init(&s.ranks, rank_host, req->graph->ranks,
	                      req->n_hosts, err)) {
		passes(&s);
		rc = 0;
	}
	cpl_members_free(&s.ranks);
	cpl_distance_free(&s.distance);
	return cpl_arena_end(&arena, rc, err);
}
