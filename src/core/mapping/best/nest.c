/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "mapping/best/best.h"

/* Recursive coordinate bisection (Berger, Bokhari, IEEE ToC C-36, 1987) of the
 * grid's cells and of the hosts side by side. Hosts are cut between units of
 * the machine, the coarsest first, so that tiles of the grid are nested as its
 * levels are. */
struct nest {
	const struct cpl_map_request *req;
	const struct cpl_grid *grid;
	int *host; /* [hosts] in the order of the machine */
	int *rank; /* [ranks] in the order of the cuts */
	int *at;   /* [ranks * dims] coordinates */
	double bytes[4]; /* over the sides of each dimension */
	struct cpl_keyed *keyed;
	int *rank_host;
};

static void read_grid(struct nest *s)
{
	const struct cpl_comm *graph = s->req->graph;
	const struct cpl_grid *grid = s->grid;

	for (int r = 0; r < graph->ranks; r++) {
		int cell = grid->cell[r];

		s->rank[r] = r;
		for (int d = 0; d < grid->n_dims; cell /= grid->dim[d++])
			s->at[r * grid->n_dims + d] = cell % grid->dim[d];
	}
	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++) {
			const int *a = s->at + r * grid->n_dims;
			const int *b = s->at + graph->to[e] * grid->n_dims;

			for (int d = 0; d < grid->n_dims; d++)
				if (a[d] != b[d])
					s->bytes[d] += graph->bytes[e];
		}
}

void cpl_map_hosts_along(const struct cpl_map_request *req,
                         struct cpl_keyed *keyed)
{
	const struct cpl_network *net = req->net;
	const struct cpl_product *product = cpl_network_product(net);

	for (int h = 0; h < req->n_hosts; h++) {
		int node = req->host[h];

		keyed[h].item = h;
		keyed[h].key =
		        product ? cpl_map_curve_key(
		                          cpl_network_router(net, node),
		                          product->dim, product->n_dims)
		                : (uint64_t)node;
	}
	cpl_keyed_sort(keyed, req->n_hosts);
}

static int unit_of(const struct nest *s, const struct cpl_level *level, int i)
{
	return cpl_level_unit(
	        level, cpl_network_router(s->req->net,
	                                  s->req->host[s->host[i]]));
}

/* Where to cut hosts from .. to - 1: between units of the coarsest level that
 * tells them apart, nearest to the middle, else in the middle. */
static int cut_hosts(const struct nest *s, int from, int to)
{
	const struct cpl_network *net = s->req->net;
	int middle = (from + to) / 2;

	for (int l = 0; l < net->n_levels && !cpl_network_product(net); l++) {
		const struct cpl_level *level = &net->level[l];

		if (unit_of(s, level, from) == unit_of(s, level, to - 1))
			continue;
		for (int away = 0; away < to - from; away++)
			for (int side = -1; side <= 1; side += 2) {
				int i = middle + side * away;

				if (i > from && i < to &&
				    unit_of(s, level, i - 1) !=
				            unit_of(s, level, i))
					return i;
			}
	}
	return middle;
}

/* The dimension across which the box of these ranks has least traffic. */
static int axis_of(const struct nest *s, const int *rank, int n)
{
	int dims = s->grid->n_dims, best = 0;
	double least = -1;

	for (int d = 0; d < dims; d++) {
		int low = s->grid->dim[d], high = 0;
		double through;

		for (int i = 0; i < n; i++) {
			int x = s->at[rank[i] * dims + d];

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		if (high <= low)
			continue;
		through = s->bytes[d] / (high - low + 1);
		if (s->grid->cliques)
			through = s->bytes[d] / (s->grid->dim[d] - 1) *
			          (high - low + 1);
		if (least >= 0 && through >= least)
			continue;
		least = through;
		best = d;
	}
	return best;
}

/* Sorts ranks along the axis, and in each of its planes along the others. */
static void sort_ranks(struct nest *s, int *rank, int n, int axis)
{
	int dims = s->grid->n_dims;

	for (int i = 0; i < n; i++) {
		const int *at = s->at + rank[i] * dims;
		uint64_t key = (uint64_t)at[axis];

		for (int d = 0; d < dims; d++)
			if (d != axis)
				key = key * (uint64_t)s->grid->dim[d] +
				      (uint64_t)at[d];
		s->keyed[i] = (struct cpl_keyed){key, rank[i]};
	}
	cpl_keyed_sort(s->keyed, n);
	for (int i = 0; i < n; i++)
		rank[i] = s->keyed[i].item;
}

/* Puts ranks rank[0 .. n - 1] on hosts from .. to - 1, which have n slots. */
static void nest(struct nest *s, int *rank, int n, int from, int to)
{
	int cut, first = 0;

	if (to - from == 1) {
		for (int i = 0; i < n; i++)
			s->rank_host[rank[i]] = s->host[from];
		return;
	}
	cut = cut_hosts(s, from, to);
	for (int i = from; i < cut; i++)
		first += s->req->slots[s->host[i]];
	sort_ranks(s, rank, n, axis_of(s, rank, n));
	nest(s, rank, first, from, cut);
	nest(s, rank + first, n - first, cut, to);
}

int cpl_map_nest(const struct cpl_map_request *req, const struct cpl_grid *grid,
                 int *rank_host, struct cpl_error *err)
{
	int ranks = req->graph->ranks, hosts = req->n_hosts;
	struct cpl_arena arena = {0};
	struct nest s = {
	        .req = req,
	        .grid = grid,
	        .host = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .rank = cpl_arena_take(&arena, ranks, sizeof(int)),
	        .at = cpl_arena_take(&arena, (int64_t)ranks * grid->n_dims,
	                             sizeof(int)),
	        .keyed = cpl_arena_take(&arena, ranks > hosts ? ranks : hosts,
	                                sizeof(struct cpl_keyed)),
	        .rank_host = rank_host,
	};

	if (!arena.failed) {
		read_grid(&s);
		cpl_map_hosts_along(req, s.keyed);
		for (int i = 0; i < hosts; i++)
			s.host[i] = s.keyed[i].item;
		nest(&s, s.rank, ranks, 0, hosts);
	}
	return cpl_arena_end(&arena, 0, err);
}
