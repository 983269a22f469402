/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/distance.h"

#include <stdlib.h>
#include <string.h>

/* Numbers in the row cache at the most: 128 MB. */
#define CACHE_MAX (32L * 1024 * 1024)

/* Offsets kept at the most. */
#define OFFSETS_MAX (1 << 22)
/* Routers without a host of the job cost time too. */
#define SPARSE 8
/* Leaves up to which all rows are made: where dimensions give hops as fast, as
 * many as a processor's cache holds. */
#define ALL_MAX 5792
#define ALL_MAX_PRODUCT 1024

static void init_product(struct cpl_distance *d, const struct cpl_product *p)
{
	int stride = 1, n = p->n_dims;

	d->n_dims = n;
	d->at = cpl_arena_take_raw(&d->arena, (int64_t)n * d->n_leaves,
	                           sizeof(*d->at));
	for (int k = 0; k < n; k++) {
		int64_t dim = p->dim[k];

		d->table[k] = cpl_arena_take_raw(&d->arena, dim * dim,
		                                 sizeof(*d->table[k]));
	}
	for (int k = 0; k < n && !d->arena.failed; k++) {
		int dim = p->dim[k];
		float *hops = d->table[k];

		for (int a = 0; a < dim; a++)
			for (int b = 0; b < dim; b++)
				*hops++ = (float)d->routing->hops(
				        d->net, a * stride, b * stride);
		for (int i = 0; i < d->n_leaves; i++)
			d->at[(size_t)i * (size_t)n + (size_t)k] =
			        (unsigned short)(d->router[i] / stride % dim);
		stride *= dim;
	}
}

int cpl_distance_init(struct cpl_distance *distance,
                      const struct cpl_network *net,
                      const struct cpl_routing *routing, const int *host,
                      int n_hosts, struct cpl_error *err)
{
	struct cpl_distance d = {.net = net, .routing = routing};
	struct cpl_arena *arena = &d.arena;
	int *leaf_of = malloc((size_t)net->n_stations * sizeof(*leaf_of));

	d.leaf = cpl_arena_take_raw(arena, n_hosts, sizeof(*d.leaf));
	d.router = cpl_arena_take_raw(arena, n_hosts, sizeof(*d.router));
	if (!leaf_of || arena->failed)
		goto fail;
	for (int i = 0; i < net->n_stations; i++)
		leaf_of[i] = -1;
	for (int i = 0; i < n_hosts; i++) {
		int station = cpl_network_station(net, host[i]);

		if (leaf_of[station] < 0) {
			leaf_of[station] = d.n_leaves;
			d.router[d.n_leaves++] = station;
		}
		d.leaf[i] = leaf_of[station];
	}
	d.n_rows = (int)(CACHE_MAX / d.n_leaves);
	if (d.n_rows > d.n_leaves)
		d.n_rows = d.n_leaves;
	if (d.n_rows < 1)
		d.n_rows = 1;
	d.row_of = cpl_arena_take_raw(arena, d.n_rows, sizeof(*d.row_of));
	d.row = cpl_arena_take_raw(arena, (int64_t)d.n_rows * d.n_leaves,
	                           sizeof(*d.row));
	if (cpl_network_product(net) && !net->station_of)
		init_product(&d, cpl_network_product(net));
	if (arena->failed)
		goto fail;
	for (int i = 0; i < d.n_rows; i++)
		d.row_of[i] = -1;
	free(leaf_of);
	*distance = d;
	return 0;
fail:
	free(leaf_of);
	cpl_arena_free(arena);
	return cpl_fail_memory(err);
}

static void product_row(const struct cpl_distance *d, int leaf, float *row)
{
	int n = d->n_dims;

	for (int i = 0; i < d->n_leaves; i++)
		row[i] = 0;
	for (int k = 0; k < n; k++) {
		const unsigned short *x = d->at + k;
		const float *table =
		        d->table[k] +
		        x[(size_t)leaf * (size_t)n] * d->net->product.dim[k];

		for (int i = 0; i < d->n_leaves; i++, x += n)
			row[i] += table[*x];
	}
}

/* Rows that are there have the same hops the other way. */
static void routed_row(const struct cpl_distance *d, int leaf, float *row)
{
	for (int i = 0; i < d->n_leaves; i++) {
		int at = i % d->n_rows;

		row[i] = i != leaf && d->row_of[at] == i
		                 ? d->row[(size_t)at * (size_t)d->n_leaves +
		                          (size_t)leaf]
		                 : (float)cpl_station_hops(d->net, d->routing,
		                                           d->router[leaf],
		                                           d->router[i]);
	}
}

const float *cpl_distance_row(struct cpl_distance *d, int leaf)
{
	int at = leaf % d->n_rows;
	size_t n = (size_t)d->n_leaves;
	float *row = d->row + (size_t)at * n;

	if (d->row_of[at] == leaf)
		return row;
	d->row_of[at] = leaf;
	if (d->n_dims)
		product_row(d, leaf, row);
	else
		routed_row(d, leaf, row);
	return row;
}

void cpl_distance_fill(struct cpl_distance *d)
{
	if (d->n_rows < d->n_leaves ||
	    d->n_leaves > (d->n_dims ? ALL_MAX_PRODUCT : ALL_MAX))
		return;
	for (int leaf = 0; leaf < d->n_leaves; leaf++)
		cpl_distance_row(d, leaf);
	d->all = true;
}

double cpl_distance_between(struct cpl_distance *d, int a, int b)
{
	if (!d->n_dims || d->row_of[a % d->n_rows] == a)
		return (double)cpl_distance_row(d, a)[b];
	return cpl_distance_hops(d, a, b);
}

bool cpl_distance_sums(const struct cpl_distance *d, const double *weight,
                       double *sum)
{
	size_t n = (size_t)d->n_leaves, longest = 1;
	size_t dims = (size_t)d->n_dims;
	double *at, *cost;

	if (!d->n_dims)
		return false;
	for (int k = 0; k < d->n_dims; k++)
		if ((size_t)d->net->product.dim[k] > longest)
			longest = (size_t)d->net->product.dim[k];
	at = malloc(2 * longest * sizeof(*at));
	if (!at)
		return false;
	cost = at + longest;
	for (size_t i = 0; i < n; i++)
		sum[i] = 0;
	for (int k = 0; k < d->n_dims; k++) {
		const unsigned short *x = d->at + k;
		size_t dim = (size_t)d->net->product.dim[k];

		for (size_t a = 0; a < dim; a++)
			at[a] = cost[a] = 0;
		for (size_t i = 0; i < n; i++)
			at[x[i * dims]] += weight[i];
		for (size_t a = 0; a < dim; a++)
			for (size_t b = 0; b < dim; b++)
				cost[a] += at[b] *
				           (double)d->table[k][a * dim + b];
		for (size_t i = 0; i < n; i++)
			sum[i] += cost[x[i * dims]];
	}
	free(at);
	return true;
}

void cpl_distance_free(struct cpl_distance *d)
{
	cpl_arena_free(&d->arena);
	*d = (struct cpl_distance){0};
}

struct hop_span {
	int low, high; /* offsets along a dimension */
};

static struct hop_span span_of(const struct cpl_product *torus, int d)
{
	int dim = torus->dim[d];

	return torus->wrap[d] ? (struct hop_span){-((dim - 1) / 2), dim / 2}
	                      : (struct hop_span){1 - dim, dim - 1};
}

/* Are hops along every dimension steps on its ring or line? */
static bool plain(const struct cpl_distance *d)
{
	const struct cpl_product *torus = &d->net->product;

	for (int k = 0; k < torus->n_dims; k++) {
		int dim = torus->dim[k];

		for (int a = 0; a < dim; a++)
			for (int b = 0; b < dim; b++) {
				int way = abs(a - b);

				if (torus->wrap[k] && dim - way < way)
					way = dim - way;
				if (d->table[k][(size_t)a * (size_t)dim +
				                (size_t)b] != (float)way)
					return false;
			}
	}
	return true;
}

/* Go to the next of all offsets; false behind the last. */
static bool next(const struct cpl_product *torus, short *at)
{
	for (int d = 0; d < torus->n_dims; d++) {
		struct hop_span span = span_of(torus, d);

		if (at[d] < span.high) {
			at[d]++;
			return true;
		}
		at[d] = (short)span.low;
	}
	return false;
}

static int length(const short *at, int n)
{
	int sum = 0;

	for (int d = 0; d < n; d++)
		sum += abs(at[d]);
	return sum;
}

/* Counting sort of the offsets by length. */
static void sort(struct cpl_rings *r, const struct cpl_product *torus)
{
	short at[CPL_NETWORK_MAX_DIMS];
	int n = torus->n_dims;

	for (int d = 0; d < n; d++)
		at[d] = (short)span_of(torus, d).low;
	do
		r->start[length(at, n) + 2]++;
	while (next(torus, at));
	for (int l = 0; l <= r->max; l++)
		r->start[l + 2] += r->start[l + 1];
	for (int d = 0; d < n; d++)
		at[d] = (short)span_of(torus, d).low;
	do {
		int64_t to = r->start[length(at, n) + 1]++;

		memcpy(r->offset + to * n, at, (size_t)n * sizeof(*at));
	} while (next(torus, at));
}

int cpl_rings_init(struct cpl_rings *rings, const struct cpl_distance *distance,
                   struct cpl_error *err)
{
	const struct cpl_network *net = distance->net;
	const struct cpl_product *torus = &net->product;
	struct cpl_rings r = {.distance = distance};
	int64_t n = 1;

	*rings = (struct cpl_rings){0};
	if (!distance->n_dims ||
	    (int64_t)distance->n_leaves * SPARSE < net->n_routers ||
	    !plain(distance))
		return 0;
	for (int d = 0; d < torus->n_dims; d++) {
		struct hop_span span = span_of(torus, d);

		n *= span.high - span.low + 1;
		r.max += span.high > -span.low ? span.high : -span.low;
	}
	if (n > OFFSETS_MAX)
		return 0;
	r.start = cpl_arena_take(&r.arena, r.max + 3, sizeof(*r.start));
	r.offset = cpl_arena_take_raw(&r.arena, n * torus->n_dims,
	                              sizeof(*r.offset));
	r.leaf_of = cpl_arena_take_raw(&r.arena, net->n_routers,
	                               sizeof(*r.leaf_of));
	if (r.arena.failed)
		return cpl_arena_end(&r.arena, -1, err);
	for (int i = 0; i < net->n_routers; i++)
		r.leaf_of[i] = -1;
	for (int i = 0; i < distance->n_leaves; i++)
		r.leaf_of[distance->router[i]] = i;
	sort(&r, torus);
	*rings = r;
	return 1;
}

int cpl_rings_leaf(const struct cpl_rings *r, int centre, int64_t i)
{
	const struct cpl_distance *d = r->distance;
	const struct cpl_product *torus = &d->net->product;
	const short *offset = r->offset + i * torus->n_dims;
	int router = 0, stride = 1;

	for (int k = 0; k < torus->n_dims; k++) {
		int dim = torus->dim[k];
		int x = offset[k] +
		        d->at[(size_t)centre * (size_t)d->n_dims + (size_t)k];

		if (x < 0 || x >= dim) {
			if (!torus->wrap[k])
				return -1;
			x += x < 0 ? dim : -dim;
		}
		router += x * stride;
		stride *= dim;
	}
	return r->leaf_of[router];
}

void cpl_rings_free(struct cpl_rings *rings)
{
	cpl_arena_free(&rings->arena);
	*rings = (struct cpl_rings){0};
}
