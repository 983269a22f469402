/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/rings.h"

#include <stdlib.h>
#include <string.h>

/* Offsets kept at the most. */
#define OFFSETS_MAX (1 << 22)
/* Routers without a host of the job cost time too. */
#define SPARSE 8

struct span {
	int low, high; /* offsets along a dimension */
};

static struct span span_of(const struct cpl_torus *torus, int d)
{
	int dim = torus->dim[d];

	return torus->wrap[d] ? (struct span){-((dim - 1) / 2), dim / 2}
	                      : (struct span){1 - dim, dim - 1};
}

/* Hops along every dimension are steps on its ring or line? */
static bool plain(const struct cpl_distance *d)
{
	const struct cpl_torus *torus = &d->net->torus;

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

/* All offsets, one after the other; false behind the last. */
static bool next(const struct cpl_torus *torus, short *at)
{
	for (int d = 0; d < torus->n_dims; d++) {
		struct span span = span_of(torus, d);

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
static void sort(struct cpl_rings *r, const struct cpl_torus *torus)
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
	const struct cpl_torus *torus = &net->torus;
	struct cpl_rings r = {.distance = distance};
	int64_t n = 1;

	*rings = (struct cpl_rings){0};
	if (net->type != CPL_NETWORK_TORUS ||
	    (int64_t)distance->n_spots * SPARSE < net->n_routers ||
	    !plain(distance))
		return 0;
	for (int d = 0; d < torus->n_dims; d++) {
		struct span span = span_of(torus, d);

		n *= span.high - span.low + 1;
		r.max += span.high > -span.low ? span.high : -span.low;
	}
	if (n > OFFSETS_MAX)
		return 0;
	r.start = calloc((size_t)r.max + 3, sizeof(*r.start));
	r.offset =
	        malloc((size_t)n * (size_t)torus->n_dims * sizeof(*r.offset));
	r.spot_of = malloc((size_t)net->n_routers * sizeof(*r.spot_of));
	if (!r.start || !r.offset || !r.spot_of) {
		cpl_rings_free(&r);
		return cpl_fail_memory(err);
	}
	for (int i = 0; i < net->n_routers; i++)
		r.spot_of[i] = -1;
	for (int i = 0; i < distance->n_spots; i++)
		r.spot_of[distance->router[i]] = i;
	sort(&r, torus);
	*rings = r;
	return 1;
}

int cpl_rings_spot(const struct cpl_rings *r, int centre, int64_t i)
{
	const struct cpl_distance *d = r->distance;
	const struct cpl_torus *torus = &d->net->torus;
	const short *offset = r->offset + i * torus->n_dims;
	int router = 0, stride = 1;

	for (int k = 0; k < torus->n_dims; k++) {
		int dim = torus->dim[k];
		int x = offset[k] +
		        d->coordinate[(size_t)k * (size_t)d->n_spots +
		                      (size_t)centre];

		if (x < 0 || x >= dim) {
			if (!torus->wrap[k])
				return -1;
			x += x < 0 ? dim : -dim;
		}
		router += x * stride;
		stride *= dim;
	}
	return r->spot_of[router];
}

void cpl_rings_free(struct cpl_rings *rings)
{
	free(rings->start);
	free(rings->offset);
	free(rings->spot_of);
	*rings = (struct cpl_rings){0};
}
