/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/mapping_internal.h"

/* Multiply-adds spent at the most; some 50 ms. */
#define WORK_MAX 50000000L
/* Hosts each rank tries. */
#define TARGETS 4
#define PASSES 4
/* A swap must gain this much of the two ranks' hop-bytes, or sums that differ
 * in their last bits could swap for ever. */
#define GAIN 1e-9

struct refine {
	const struct cpl_map_request *req;
	struct cpl_distance distance;
	double *cost;  /* [spots] of the rank at hand on that spot */
	int *first;    /* [hosts + 1] start of a host's ranks in member */
	int *member;   /* [ranks] ranks by host */
	int *position; /* [ranks] index into member */
	int *rank_host;
	long work;
};

/* Hop-bytes of a rank on every spot, partners where they are. */
static void cost_everywhere(struct refine *s, int rank)
{
	const struct cpl_comm *graph = s->req->graph;
	int n = s->distance.n_spots;

	for (int i = 0; i < n; i++)
		s->cost[i] = 0;
	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int spot = s->distance.spot[s->rank_host[graph->to[e]]];
		const float *row = cpl_distance_row(&s->distance, spot);
		double bytes = graph->bytes[e];
		double *cost = s->cost;

		for (int i = 0; i < n; i++)
			cost[i] += bytes * (double)row[i];
		s->work += n;
	}
}

/* What rank `other` gains by going to `spot`, and its traffic with `rank`. */
static double gain_of(struct refine *s, int other, int spot, int rank,
                      double *between)
{
	const struct cpl_comm *graph = s->req->graph;
	int here = s->distance.spot[s->rank_host[other]];
	double gain = 0;

	*between = 0;
	for (int64_t e = graph->row[other]; e < graph->row[other + 1]; e++) {
		int at = s->distance.spot[s->rank_host[graph->to[e]]];
		const float *row = cpl_distance_row(&s->distance, at);

		gain += graph->bytes[e] * (double)(row[here] - row[spot]);
		if (graph->to[e] == rank)
			*between += graph->bytes[e];
	}
	s->work += graph->row[other + 1] - graph->row[other];
	return gain;
}

static void swap(struct refine *s, int a, int b)
{
	int host = s->rank_host[a], at = s->position[a];

	s->rank_host[a] = s->rank_host[b];
	s->rank_host[b] = host;
	s->position[a] = s->position[b];
	s->position[b] = at;
	s->member[s->position[a]] = a;
	s->member[s->position[b]] = b;
}

/* The TARGETS cheapest hosts that are better than where the rank is. */
static int pick_targets(struct refine *s, int rank, int *target)
{
	const int *spot = s->distance.spot;
	double here = s->cost[spot[s->rank_host[rank]]];
	int n = 0;

	for (int h = 0; h < s->req->n_hosts; h++) {
		double cost = s->cost[spot[h]];
		int at;

		if (cost >= here || !s->req->slots[h] ||
		    (n == TARGETS && cost >= s->cost[spot[target[n - 1]]]))
			continue;
		if (n < TARGETS)
			n++;
		for (at = n - 1; at > 0 && cost < s->cost[spot[target[at - 1]]];
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
	const int *spot = s->distance.spot;
	double most, here;
	int from = spot[s->rank_host[rank]];

	cost_everywhere(s, rank);
	n = pick_targets(s, rank, target);
	here = s->cost[from];
	most = GAIN * here;
	for (int k = 0; k < n; k++) {
		int to = spot[target[k]];
		const float *row = cpl_distance_row(&s->distance, to);
		double hops = (double)row[from];

		for (int i = s->first[target[k]]; i < s->first[target[k] + 1];
		     i++) {
			const int *weight = s->req->weight;
			double between, gain;

			if (weight && weight[s->member[i]] != weight[rank])
				continue;
			gain = gain_of(s, s->member[i], from, rank, &between);
			/* The pair's own distance stays as it is, but both
			 * sides counted it as gone. */
			gain += here - s->cost[to] - 2 * between * hops;
			if (gain > most) {
				most = gain;
				best = s->member[i];
			}
		}
	}
	if (best < 0)
		return false;
	swap(s, rank, best);
	return true;
}

static void passes(struct refine *s)
{
	const struct cpl_map_request *req = s->req;
	bool gained = true;

	for (int pass = 0; pass < PASSES && gained; pass++) {
		gained = false;
		for (int r = 0; r < req->graph->ranks; r++) {
			if (s->work > WORK_MAX ||
			    (req->expired && req->expired(req->expired_arg)))
				return;
			gained |= improve_rank(s, r);
		}
	}
}

int cpl_map_refine(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err)
{
	size_t ranks = (size_t)req->graph->ranks;
	struct refine s = {.req = req, .rank_host = rank_host};
	int rc = -1;

	if (cpl_distance_init(&s.distance, req->net, req->routing, req->host,
	                      req->n_hosts, err))
		return -1;
	s.cost = malloc((size_t)s.distance.n_spots * sizeof(*s.cost));
	s.first = calloc((size_t)req->n_hosts + 2, sizeof(*s.first));
	s.member = malloc(ranks * sizeof(*s.member));
	s.position = malloc(ranks * sizeof(*s.position));
	if (!s.cost || !s.first || !s.member || !s.position) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int r = 0; r < req->graph->ranks; r++)
		s.first[rank_host[r] + 2]++;
	for (int h = 0; h < req->n_hosts; h++)
		s.first[h + 2] += s.first[h + 1];
	/* Counting sort: first[h + 1] runs from the start of host h to its
	 * end, which is the start of the next. */
	for (int r = 0; r < req->graph->ranks; r++) {
		s.position[r] = s.first[rank_host[r] + 1]++;
		s.member[s.position[r]] = r;
	}
	passes(&s);
	rc = 0;
out:
	free(s.cost);
	free(s.first);
	free(s.member);
	free(s.position);
	cpl_distance_free(&s.distance);
	return rc;
}
