/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/random.h"
#include "mapping/best_internal.h"

int cpl_swaps_init(struct cpl_swaps *swaps, const struct cpl_map_request *req,
                   const struct cpl_tables *tables, int *rank_host,
                   uint64_t seed, struct cpl_error *err)
{
	size_t ranks = (size_t)req->graph->ranks, hosts = (size_t)req->n_hosts;
	struct cpl_swaps s = {
	        .req = req,
	        .tables = tables,
	        .rank_host = rank_host,
	        .random = cpl_random(seed, 0, 0),
	};

	s.first = calloc(hosts + 2, sizeof(*s.first));
	s.member = malloc((ranks + 1) * sizeof(*s.member));
	s.position = malloc((ranks + 1) * sizeof(*s.position));
	if (!s.first || !s.member || !s.position) {
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
	*swaps = s;
	return 0;
}

void cpl_swaps_free(struct cpl_swaps *s)
{
	free(s->first);
	free(s->member);
	free(s->position);
}

double cpl_swaps_cost(const struct cpl_swaps *s)
{
	const struct cpl_comm *graph = s->req->graph;
	const int *spot = s->tables->spot;
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			sum += graph->bytes[e] *
			       cpl_tables_hops(
			               s->tables, spot[s->rank_host[r]],
			               spot[s->rank_host[graph->to[e]]]);
	/* Each edge stands in two rows. */
	return sum / 2;
}

/* What rank's traffic, that with `other` left out, changes when it goes from
 * spot `from` to spot `to`. */
static double change_of(const struct cpl_swaps *s, int rank, int other,
                        int from, int to)
{
	const struct cpl_comm *graph = s->req->graph;
	const struct cpl_tables *t = s->tables;
	const int *spot = t->spot, *host = s->rank_host;
	const float *near[CPL_NETWORK_MAX_DIMS], *far[CPL_NETWORK_MAX_DIMS];
	size_t n = (size_t)t->n_dims;
	double sum = 0;

	if (t->table) {
		near[0] = t->table + (size_t)from * (size_t)t->n_spots;
		far[0] = t->table + (size_t)to * (size_t)t->n_spots;
		for (int64_t e = graph->row[rank]; e < graph->row[rank + 1];
		     e++) {
			int at = spot[host[graph->to[e]]];

			if (graph->to[e] != other)
				sum += graph->bytes[e] *
				       (double)(far[0][at] - near[0][at]);
		}
		return sum;
	}
	for (size_t d = 0; d < n; d++) {
		int dim = s->req->net->torus.dim[d];

		near[d] = t->ring[d] + t->at[(size_t)from * n + d] * dim;
		far[d] = t->ring[d] + t->at[(size_t)to * n + d] * dim;
	}
	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int at = spot[host[graph->to[e]]];
		const unsigned short *x = t->at + (size_t)at * n;
		float hops = 0;

		if (graph->to[e] == other)
			continue;
		for (size_t d = 0; d < n; d++)
			hops += far[d][x[d]] - near[d][x[d]];
		if (!n)
			hops = (float)(cpl_tables_hops(t, to, at) -
			               cpl_tables_hops(t, from, at));
		sum += graph->bytes[e] * (double)hops;
	}
	return sum;
}

double cpl_swaps_delta(const struct cpl_swaps *s, int a, int b)
{
	const int *spot = s->tables->spot, *host = s->rank_host;
	int at_a = spot[host[a]], at_b = spot[host[b]];

	return change_of(s, a, b, at_a, at_b) + change_of(s, b, a, at_b, at_a);
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
	const struct cpl_tables *t = s->tables;
	int to = t->near[(size_t)host * (size_t)t->n_near +
	                 (size_t)cpl_swaps_below(s, t->n_near)];

	if (to == s->rank_host[rank] ||
	    (s->kind && s->kind[to] != s->kind[s->rank_host[rank]]))
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
