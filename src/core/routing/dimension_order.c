/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

/* The steps in one dimension, above 0 towards +, below 0 towards -. */
static int steps(const struct cpl_product *torus, int d, int from, int to)
{
	return torus->wrap[d] ? cpl_ring_steps(torus->dim[d], from, to)
	                      : to - from;
}

/* Puts the bytes on the links of the path, or with share lists the links, or
 * with sums puts them there. Returns their number. */
static inline __attribute__((always_inline)) int
follow(const struct cpl_network *net, int from, int to, double bytes,
       double *load, struct cpl_share *share, const struct cpl_put_on *sums)
{
	const struct cpl_product *torus = &net->product;
	/* Ids above this dimension: each needs one division. */
	unsigned above = (unsigned)from, above_to = (unsigned)to;
	int stride = 1, router = from, found = 0;
	int used = sums ? *sums->n_touched : 0;

	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d], at = (int)(above % (unsigned)n);
		int goal = (int)(above_to % (unsigned)n);
		int left = steps(torus, d, at, goal);
		int minus = left < 0, step = minus ? -1 : 1;
		/* Routers up to the one behind the border, then on. */
		int border = minus ? at : n - 1 - at;
		int64_t ahead = (int64_t)step * stride * torus->n_dims * 2;
		const int64_t *out =
		        torus->out +
		        ((int64_t)router * torus->n_dims + d) * 2 + minus;

		above /= (unsigned)n;
		above_to /= (unsigned)n;
		router += (goal - at) * stride;
		for (left *= step; left; left--, found++) {
			if (share)
				share[found] = (struct cpl_share){(int)*out, 1};
			else
				load[*out] += bytes;
			if (sums && !sums->mark[*out]) {
				sums->mark[*out] = 1;
				sums->touched[used++] = (int)*out;
			}
			out += border-- ? ahead : ahead * (1 - n);
		}
		stride *= n;
	}
	if (sums)
		*sums->n_touched = used;
	return found;
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	follow(net, from, to, bytes, load, NULL, NULL);
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	return follow(net, from, to, 1, NULL, share, NULL);
}

static int put_flow(const struct cpl_network *net, int from, int to,
                    double bytes, const struct cpl_put_on *sums)
{
	return follow(net, from, to, bytes, sums->bytes, NULL, sums);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	const struct cpl_product *torus = &net->product;
	unsigned a = (unsigned)from, b = (unsigned)to;
	int sum = 0;

	for (int d = 0; d < torus->n_dims; d++) {
		unsigned n = (unsigned)torus->dim[d];
		int way = steps(torus, d, (int)(a % n), (int)(b % n));

		sum += way < 0 ? -way : way;
		a /= n;
		b /= n;
	}
	return sum;
}

const struct cpl_routing cpl_routing_dimension_order = {
        .name = "dimension-order",
        .short_name = "DO",
        .flags = CPL_NETWORK_PRODUCT,
        .summary = "dimension 0 first, the shorter way round, ties to +",
        .add = add_flow,
        .links = links,
        .put = put_flow,
        .hops = hops,
};
