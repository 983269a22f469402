/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/random.h"
#include "mapping/best_internal.h"

static void find_near(struct cpl_swaps *s)
{
	const struct cpl_map_request *req = s->req;

	for (int h = 0; h < req->n_hosts; h++) {
		const float *row =
		        cpl_distance_row(&s->distance, s->distance.spot[h]);
		int *near = s->near + (size_t)h * (size_t)s->n_near;
		int n = 0;

		for (int k = 0; k < req->n_hosts; k++) {
			float hops = row[s->distance.spot[k]];
			int at;

			if (!req->slots[k] ||
			    (n == s->n_near &&
			     hops >= row[s->distance.spot[near[n - 1]]]))
				continue;
			if (n < s->n_near)
				n++;
			for (at = n - 1;
			     at > 0 &&
			     hops < row[s->distance.spot[near[at - 1]]];
			     at--)
				near[at] = near[at - 1];
			near[at] = k;
		}
	}
}

int cpl_swaps_init(struct cpl_swaps *swaps, const struct cpl_map_request *req,
                   int *rank_host, uint64_t seed, struct cpl_error *err)
{
	size_t ranks = (size_t)req->graph->ranks, hosts = (size_t)req->n_hosts;
	struct cpl_swaps s = {
	        .req = req,
	        .rank_host = rank_host,
	        .random = cpl_random(seed, 0, 0),
	};
	int full = 0;

	for (int h = 0; h < req->n_hosts; h++)
		full += req->slots[h] > 0;
	s.n_near = full < CPL_SWAPS_NEAR ? full : CPL_SWAPS_NEAR;
	if (cpl_distance_init(&s.distance, req->net, req->routing, req->host,
	                      req->n_hosts, err))
		return -1;
	s.first = calloc(hosts + 2, sizeof(*s.first));
	s.member = malloc((ranks + 1) * sizeof(*s.member));
	s.position = malloc((ranks + 1) * sizeof(*s.position));
	s.near = malloc((hosts * (size_t)s.n_near + 1) * sizeof(*s.near));
	if (!s.first || !s.member || !s.position || !s.near) {
		cpl_swaps_free(&s);
		return cpl_fail_memory(err);
	}
	for (int h = 0; h < req->n_hosts; h++)
		s.first[h + 2] = s.first[h + 1] + req->slots[h];
	/* Counting sort, see cpl_map_refine. */
	for (int r = 0; r < req->graph->ranks; r++) {
		s.position[r] = s.first[rank_host[r] + 1]++;
		s.member[s.position[r]] = r;
	}
	find_near(&s);
	*swaps = s;
	return 0;
}

void cpl_swaps_free(struct cpl_swaps *s)
{
	cpl_distance_free(&s->distance);
	free(s->first);
	free(s->member);
	free(s->position);
	free(s->near);
}

double cpl_swaps_cost(struct cpl_swaps *s)
{
	const struct cpl_comm *graph = s->req->graph;
	const int *spot = s->distance.spot;
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++) {
		const float *row =
		        cpl_distance_row(&s->distance, spot[s->rank_host[r]]);

		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			sum += graph->bytes[e] *
			       (double)row[spot[s->rank_host[graph->to[e]]]];
	}
	/* Each edge stands in two rows. */
	return sum / 2;
}

double cpl_swaps_delta(struct cpl_swaps *s, int a, int b)
{
	const struct cpl_comm *graph = s->req->graph;
	const int *spot = s->distance.spot, *host = s->rank_host;
	const float *from = cpl_distance_row(&s->distance, spot[host[a]]);
	const float *to = cpl_distance_row(&s->distance, spot[host[b]]);
	double sum = 0;

	for (int64_t e = graph->row[a]; e < graph->row[a + 1]; e++) {
		int at = spot[host[graph->to[e]]];

		if (graph->to[e] != b)
			sum += graph->bytes[e] * (double)(to[at] - from[at]);
	}
	for (int64_t e = graph->row[b]; e < graph->row[b + 1]; e++) {
		int at = spot[host[graph->to[e]]];

		if (graph->to[e] != a)
			sum += graph->bytes[e] * (double)(from[at] - to[at]);
	}
	return sum;
}

void cpl_swaps_do(struct cpl_swaps *s, int a, int b)
{
	int host = s->rank_host[a], at = s->position[a];

	s->rank_host[a] = s->rank_host[b];
	s->rank_host[b] = host;
	s->position[a] = s->position[b];
	s->position[b] = at;
	s->member[s->position[a]] = a;
	s->member[s->position[b]] = b;
}

static int rank_near(struct cpl_swaps *s, int rank, int host)
{
	int to = s->near[(size_t)host * (size_t)s->n_near +
	                 (size_t)cpl_swaps_below(s, s->n_near)];

	if (to == s->rank_host[rank])
		return -1;
	return s->member[s->first[to] + cpl_swaps_below(s, s->req->slots[to])];
}

int cpl_swaps_partner(struct cpl_swaps *s, int rank)
{
	const struct cpl_comm *graph = s->req->graph;
	int degree = (int)(graph->row[rank + 1] - graph->row[rank]);
	int64_t e;

	if (!degree)
		return -1;
	e = graph->row[rank] + cpl_swaps_below(s, degree);
	return rank_near(s, rank, s->rank_host[graph->to[e]]);
}

int cpl_swaps_neighbour(struct cpl_swaps *s, int rank)
{
	return rank_near(s, rank, s->rank_host[rank]);
}

uint64_t cpl_swaps_random(struct cpl_swaps *s)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

int cpl_swaps_below(struct cpl_swaps *s, int n)
{
	return (int)(((cpl_swaps_random(s) >> 32) * (uint64_t)n) >> 32);
}

double cpl_swaps_exponential(struct cpl_swaps *s)
{
	const double ln2 = 0.69314718055994531;
	uint64_t u = cpl_swaps_random(s) | 1;
	int zeros = __builtin_clzll(u);
	/* In [1/2, 1). */
	double m = (double)((u << zeros) >> 11) / 9007199254740992.0;
	double t = (1 - m) / (1 + m), t2 = t * t;

	/* -ln(m) = 2 artanh(t), t <= 1/3. */
	return zeros * ln2 +
	       2 * t * (1 + t2 * (1.0 / 3 + t2 * (1.0 / 5 + t2 / 7)));
}
