/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"
#include "mapping/best/best.h"

int cpl_swaps_init(struct cpl_swaps *swaps, const struct cpl_map_request *req,
                   const struct cpl_tables *tables, int *rank_host,
                   uint64_t seed, struct cpl_error *err)
{
	*swaps = (struct cpl_swaps){
	        .req = req,
	        .tables = tables,
	        .random = cpl_random(seed, CPL_STREAM_BEST_SWAPS, 0),
	};
	if (!cpl_members_init(&swaps->ranks, rank_host, req->graph->ranks,
	                      req->n_hosts, err))
		return 0;
	cpl_swaps_free(swaps);
	return -1;
}

void cpl_swaps_free(struct cpl_swaps *s)
{
	cpl_members_free(&s->ranks);
}

double cpl_tables_hop_bytes(const struct cpl_tables *tables,
                            const struct cpl_comm *graph, const int *host)
{
	const struct cpl_distance *d = &tables->distance;
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			sum += graph->bytes[e] *
			       cpl_distance_hops(
			               d, d->leaf[host[r]],
			               d->leaf[host[graph->to[e]]]);
	/* Each edge stands in two rows. */
	return sum / 2;
}

double cpl_swaps_cost(const struct cpl_swaps *s)
{
	return cpl_tables_hop_bytes(s->tables, s->req->graph, s->ranks.set);
}

/* How much the cost of rank's traffic, without that with `other`, changes when
 * it goes from leaf `from` to leaf `to`. */
static double change_of(const struct cpl_swaps *s, int rank, int other,
                        int from, int to)
{
	const struct cpl_comm *graph = s->req->graph;
	const struct cpl_distance *d = &s->tables->distance;
	const int *leaf = d->leaf, *host = s->ranks.set;
	const float *near[CPL_NETWORK_MAX_DIMS], *far[CPL_NETWORK_MAX_DIMS];
	size_t n = (size_t)d->n_dims;
	double sum = 0;

	if (d->all) {
		near[0] = d->row + (size_t)from * (size_t)d->n_leaves;
		far[0] = d->row + (size_t)to * (size_t)d->n_leaves;
		for (int64_t e = graph->row[rank]; e < graph->row[rank + 1];
		     e++) {
			int at = leaf[host[graph->to[e]]];

			if (graph->to[e] != other)
				sum += graph->bytes[e] *
				       (double)(far[0][at] - near[0][at]);
		}
		return sum;
	}
	for (size_t k = 0; k < n; k++) {
		int dim = d->net->product.dim[k];

		near[k] = d->table[k] + d->at[(size_t)from * n + k] * dim;
		far[k] = d->table[k] + d->at[(size_t)to * n + k] * dim;
	}
	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int at = leaf[host[graph->to[e]]];
		const unsigned short *x = d->at + (size_t)at * n;
		float hops = 0;

		if (graph->to[e] == other)
			continue;
		for (size_t k = 0; k < n; k++)
			hops += far[k][x[k]] - near[k][x[k]];
		if (!n)
			hops = (float)(cpl_distance_hops(d, to, at) -
			               cpl_distance_hops(d, from, at));
		sum += graph->bytes[e] * (double)hops;
	}
	return sum;
}

double cpl_swaps_delta(const struct cpl_swaps *s, int a, int b)
{
	const int *leaf = s->tables->distance.leaf, *host = s->ranks.set;
	int at_a = leaf[host[a]], at_b = leaf[host[b]];

	return change_of(s, a, b, at_a, at_b) + change_of(s, b, a, at_b, at_a);
}

static int rank_near(struct cpl_swaps *s, int rank, int host)
{
	const struct cpl_tables *t = s->tables;
	int to = t->near[(size_t)host * (size_t)t->n_near +
	                 (size_t)cpl_swaps_below(s, t->n_near)];

	if (to == s->ranks.set[rank] ||
	    (s->kind && s->kind[to] != s->kind[s->ranks.set[rank]]))
		return -1;
	return s->ranks.member[s->ranks.first[to] +
	                       cpl_swaps_below(s, s->req->slots[to])];
}

int cpl_swaps_partner(struct cpl_swaps *s, int rank)
{
	const struct cpl_comm *graph = s->req->graph;
	int degree = (int)(graph->row[rank + 1] - graph->row[rank]);
	int64_t e;

	if (!degree)
		return -1;
	e = graph->row[rank] + cpl_swaps_below(s, degree);
	return rank_near(s, rank, s->ranks.set[graph->to[e]]);
}

int cpl_swaps_neighbour(struct cpl_swaps *s, int rank)
{
	return rank_near(s, rank, s->ranks.set[rank]);
}

int cpl_swaps_below(struct cpl_swaps *s, int n)
{
	return (int)(((cpl_random_next(&s->random) >> 32) * (uint64_t)n) >> 32);
}
