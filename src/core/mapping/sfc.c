/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/best/best.h"
#include "mapping/clusters.h"

/* The position on the Hilbert curve through a cube of n dimensions of 2^bits
 * (Skilling, AIP Conf. Proc. 707, 2004). It overwrites x. */
static uint64_t hilbert(unsigned *x, int n, int bits)
{
	unsigned top = 1u << (bits - 1), t = 0;
	uint64_t key = 0;

	for (unsigned q = top; q > 1; q >>= 1) {
		for (int i = 0; i < n; i++) {
			if (x[i] & q) {
				x[0] ^= q - 1;
			} else {
				t = (x[0] ^ x[i]) & (q - 1);
				x[0] ^= t;
				x[i] ^= t;
			}
		}
	}
	for (int i = 1; i < n; i++)
		x[i] ^= x[i - 1];
	t = 0;
	for (unsigned q = top; q > 1; q >>= 1)
		if (x[n - 1] & q)
			t ^= q - 1;
	for (int i = 0; i < n; i++)
		x[i] ^= t;
	for (int b = bits - 1; b >= 0; b--)
		for (int i = 0; i < n; i++)
			key = key << 1 | (x[i] >> b & 1);
	return key;
}

uint64_t cpl_map_curve_key(int cell, const int *dim, int n_dims)
{
	unsigned x[CPL_NETWORK_MAX_DIMS];
	int n = 0, bits = 1, drop = 0;

	for (int d = 0; d < n_dims; d++) {
		if (dim[d] > 1)
			x[n++] = (unsigned)(cell % dim[d]);
		while ((dim[d] - 1) >> bits)
			bits++;
		cell /= dim[d];
	}
	if (!n)
		return 0;
	while ((bits - drop) * n > 64)
		drop++;
	for (int i = 0; i < n; i++)
		x[i] >>= drop;
	return hilbert(x, n, bits - drop);
}

static void sort(struct cpl_keyed *point, int n, int *order)
{
	cpl_keyed_sort(point, n);
	for (int i = 0; i < n; i++)
		order[i] = point[i].item;
}

/* Routers of a torus are ordered along the curve, others by their number. */
static void order_targets(const struct cpl_clusters *t, struct cpl_keyed *point,
                          int *order)
{
	const struct cpl_network *net = t->req->net;

	for (int p = 0; p < t->n; p++) {
		int router = cpl_network_router(net, t->node[p]);

		point[p].item = p;
		point[p].key = (uint64_t)router;
		if (cpl_network_product(net))
			point[p].key = cpl_map_curve_key(router,
			                                 net->product.dim,
			                                 net->product.n_dims);
	}
	sort(point, t->n, order);
}

/* Clusters that form a grid go along the curve through it, others in order. */
static int order_clusters(const struct cpl_clusters *t, struct cpl_keyed *point,
                          int *order, struct cpl_error *err)
{
	struct cpl_grid grid = {0};
	int found = cpl_map_find_grid(t->req, t->graph, &grid, err);

	if (found < 0)
		return -1;
	for (int i = 0; i < t->n; i++) {
		point[i].item = i;
		point[i].key =
		        found ? cpl_map_curve_key(grid.cell[i], grid.dim,
		                                  grid.n_dims)
		              : (uint64_t)i;
	}
	sort(point, t->n, order);
	if (found)
		free(grid.cell);
	return 0;
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	struct cpl_keyed *point = cpl_clusters_take(t, sizeof(*point));
	int *cluster = cpl_clusters_take(t, sizeof(*cluster));
	int *target = cpl_clusters_take(t, sizeof(*target));

	if (t->arena.failed)
		return cpl_fail_memory(err);
	if (cpl_map_expired(t->req))
		return 0;
	if (order_clusters(t, point, cluster, err))
		return -1;
	order_targets(t, point, target);
	return cpl_clusters_pair(t, cluster, target, target_of, err);
}

const struct cpl_mapper cpl_mapper_sfc = {
        .name = "sfc",
        .summary = "Hilbert curves through the torus and the pattern's grid",
        .assign = assign,
};
