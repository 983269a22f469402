/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/best/best.h"
#include "mapping/clusters.h"

struct point {
	uint64_t key;
	int item;
};

static int by_key(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* Position on the Hilbert curve through a cube of n dimensions of 2^bits
 * (Skilling, AIP Conf. Proc. 707, 2004). x is overwritten. */
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

/* The same for a cell of a grid, the first dimension fastest. Dimensions too
 * long for the key lose their lowest bits. */
static uint64_t key_of(int cell, const int *dim, int n_dims)
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

static void sort(struct point *point, int n, int *order)
{
	qsort(point, (size_t)n, sizeof(*point), by_key);
	for (int i = 0; i < n; i++)
		order[i] = point[i].item;
}

/* Routers of a torus along the curve, others by their number. */
static void order_targets(const struct cpl_clusters *t, struct point *point,
                          int *order)
{
	const struct cpl_network *net = t->req->net;

	for (int p = 0; p < t->n; p++) {
		int router = cpl_network_router(net, t->node[p]);

		point[p].item = p;
		point[p].key = (uint64_t)router;
		if (cpl_network_product(net))
			point[p].key = key_of(router, net->product.dim,
			                      net->product.n_dims);
	}
	sort(point, t->n, order);
}

/* Clusters that make up a grid along the curve through it, others in order. */
static int order_clusters(const struct cpl_clusters *t, struct point *point,
                          int *order, struct cpl_error *err)
{
	struct cpl_grid grid = {0};
	int found = cpl_map_find_grid(t->graph, &grid, err);

	if (found < 0)
		return -1;
	for (int i = 0; i < t->n; i++) {
		point[i].item = i;
		point[i].key =
		        found ? key_of(grid.cell[i], grid.dim, grid.n_dims)
		              : (uint64_t)i;
	}
	sort(point, t->n, order);
	if (found)
		free(grid.cell);
	return 0;
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	size_t n = (size_t)t->n;
	struct point *point = malloc(n * sizeof(*point));
	int *cluster = malloc(n * sizeof(*cluster));
	int *target = malloc(n * sizeof(*target));
	int rc = -1;

	if (!point || !cluster || !target) {
		cpl_fail_memory(err);
	} else if (cpl_clusters_expired(t)) {
		rc = 0;
	} else if (!order_clusters(t, point, cluster, err)) {
		order_targets(t, point, target);
		rc = cpl_clusters_pair(t, cluster, target, target_of, err);
	}
	free(point);
	free(cluster);
	free(target);
	return rc;
}

const struct cpl_mapper cpl_mapper_sfc = {
        .name = "sfc",
        .summary = "Hilbert curves through the torus and the pattern's grid",
        .assign = assign,
};
