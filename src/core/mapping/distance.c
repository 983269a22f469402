/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/mapping_internal.h"

/* Numbers in the row cache at the most: 128 MB. */
#define CACHE_MAX (32L * 1024 * 1024)

static int init_torus(struct cpl_distance *d)
{
	const struct cpl_torus *torus = &d->net->torus;
	size_t n = (size_t)d->n_spots;
	int stride = 1;

	d->coordinate =
	        malloc((size_t)torus->n_dims * n * sizeof(*d->coordinate));
	if (!d->coordinate)
		return -1;
	for (int k = 0; k < torus->n_dims; k++) {
		int dim = torus->dim[k];
		float *table =
		        malloc((size_t)dim * (size_t)dim * sizeof(*table));

		if (!table)
			return -1;
		d->table[k] = table;
		for (int a = 0; a < dim; a++)
			for (int b = 0; b < dim; b++)
				table[(size_t)a * (size_t)dim + (size_t)b] =
				        (float)d->routing->hops(
				                d->net, a * stride, b * stride);
		for (size_t i = 0; i < n; i++)
			d->coordinate[(size_t)k * n + i] =
			        (unsigned short)(d->router[i] / stride % dim);
		stride *= dim;
	}
	return 0;
}

int cpl_distance_init(struct cpl_distance *distance,
                      const struct cpl_network *net,
                      const struct cpl_routing *routing, const int *host,
                      int n_hosts, struct cpl_error *err)
{
	struct cpl_distance d = {.net = net, .routing = routing};
	int *spot_of = malloc((size_t)net->n_routers * sizeof(*spot_of));

	d.spot = malloc((size_t)n_hosts * sizeof(*d.spot));
	d.router = malloc((size_t)n_hosts * sizeof(*d.router));
	if (!spot_of || !d.spot || !d.router)
		goto fail;
	for (int i = 0; i < net->n_routers; i++)
		spot_of[i] = -1;
	for (int i = 0; i < n_hosts; i++) {
		int router = cpl_network_router(net, host[i]);

		if (spot_of[router] < 0) {
			spot_of[router] = d.n_spots;
			d.router[d.n_spots++] = router;
		}
		d.spot[i] = spot_of[router];
	}
	d.n_rows = (int)(CACHE_MAX / d.n_spots);
	if (d.n_rows > d.n_spots)
		d.n_rows = d.n_spots;
	if (d.n_rows < 1)
		d.n_rows = 1;
	d.row_of = malloc((size_t)d.n_rows * sizeof(*d.row_of));
	d.row = malloc((size_t)d.n_rows * (size_t)d.n_spots * sizeof(*d.row));
	if (!d.row_of || !d.row)
		goto fail;
	for (int i = 0; i < d.n_rows; i++)
		d.row_of[i] = -1;
	if (net->type == CPL_NETWORK_TORUS && init_torus(&d))
		goto fail;
	free(spot_of);
	*distance = d;
	return 0;
fail:
	free(spot_of);
	cpl_distance_free(&d);
	return cpl_fail_memory(err);
}

const float *cpl_distance_row(struct cpl_distance *d, int spot)
{
	int at = spot % d->n_rows;
	size_t n = (size_t)d->n_spots;
	float *row = d->row + (size_t)at * n;

	if (d->row_of[at] == spot)
		return row;
	d->row_of[at] = spot;
	if (d->net->type != CPL_NETWORK_TORUS) {
		for (size_t i = 0; i < n; i++)
			row[i] = (float)d->routing->hops(
			        d->net, d->router[spot], d->router[i]);
		return row;
	}
	for (size_t i = 0; i < n; i++)
		row[i] = 0;
	for (int k = 0; k < d->net->torus.n_dims; k++) {
		const unsigned short *x = d->coordinate + (size_t)k * n;
		const float *table =
		        d->table[k] +
		        (size_t)x[spot] * (size_t)d->net->torus.dim[k];

		for (size_t i = 0; i < n; i++)
			row[i] += table[x[i]];
	}
	return row;
}

double cpl_distance_between(struct cpl_distance *d, int a, int b)
{
	size_t n = (size_t)d->n_spots;
	float sum = 0;

	if (d->net->type != CPL_NETWORK_TORUS || d->row_of[a % d->n_rows] == a)
		return (double)cpl_distance_row(d, a)[b];
	for (int k = 0; k < d->net->torus.n_dims; k++) {
		const unsigned short *x = d->coordinate + (size_t)k * n;

		sum += d->table[k][(size_t)x[a] * (size_t)d->net->torus.dim[k] +
		                   (size_t)x[b]];
	}
	return (double)sum;
}

bool cpl_distance_sums(const struct cpl_distance *d, const double *weight,
                       double *sum)
{
	size_t n = (size_t)d->n_spots, longest = 1;
	double *at, *cost;

	if (d->net->type != CPL_NETWORK_TORUS)
		return false;
	for (int k = 0; k < d->net->torus.n_dims; k++)
		if ((size_t)d->net->torus.dim[k] > longest)
			longest = (size_t)d->net->torus.dim[k];
	at = malloc(2 * longest * sizeof(*at));
	if (!at)
		return false;
	cost = at + longest;
	for (size_t i = 0; i < n; i++)
		sum[i] = 0;
	for (int k = 0; k < d->net->torus.n_dims; k++) {
		const unsigned short *x = d->coordinate + (size_t)k * n;
		size_t dim = (size_t)d->net->torus.dim[k];

		for (size_t a = 0; a < dim; a++)
			at[a] = cost[a] = 0;
		for (size_t i = 0; i < n; i++)
			at[x[i]] += weight[i];
		for (size_t a = 0; a < dim; a++)
			for (size_t b = 0; b < dim; b++)
				cost[a] += at[b] *
				           (double)d->table[k][a * dim + b];
		for (size_t i = 0; i < n; i++)
			sum[i] += cost[x[i]];
	}
	free(at);
	return true;
}

void cpl_distance_free(struct cpl_distance *d)
{
	for (int k = 0; k < CPL_NETWORK_MAX_DIMS; k++)
		free(d->table[k]);
	free(d->coordinate);
	free(d->spot);
	free(d->router);
	free(d->row_of);
	free(d->row);
	*d = (struct cpl_distance){0};
}
