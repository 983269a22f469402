/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

/* Steps in one dimension, above 0 to +, below 0 to -. */
static int steps(const struct cpl_product *torus, int d, int from, int to)
{
	return torus->wrap[d] ? cpl_ring_steps(torus->dim[d], from, to)
	                      : to - from;
}

/* Put the bytes on the links of the way, or with share list them; how many. */
static inline __attribute__((always_inline)) int
follow(const struct cpl_network *net, int from, int to, double bytes,
       double *load, struct cpl_share *share)
{
	const struct cpl_product *torus = &net->product;
	int stride = 1, router = from, found = 0;

	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d], at = router / stride % n;
		int left = steps(torus, d, at, to / stride % n);
		int minus = left < 0, step = minus ? -1 : 1;

		for (; left; left -= step, found++) {
			int next = at + step;
			int64_t link =
			        torus->out[((int64_t)router * torus->n_dims +
			                    d) * 2 +
			                   minus];

			if (share)
				share[found] = (struct cpl_share){(int)link, 1};
			else
				load[link] += bytes;
			if (next < 0)
				next += n;
			if (next == n)
				next = 0;
			router += (next - at) * stride;
			at = next;
		}
		stride *= n;
	}
	return found;
}

static void add(const struct cpl_network *net, int from, int to, double bytes,
                double *load)
{
	follow(net, from, to, bytes, load, NULL);
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	return follow(net, from, to, 1, NULL, share);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	const struct cpl_product *torus = &net->product;
	int stride = 1, sum = 0;

	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d];
		int way = steps(torus, d, from / stride % n, to / stride % n);

		sum += way < 0 ? -way : way;
		stride *= n;
	}
	return sum;
}

const struct cpl_routing cpl_routing_dimension_order = {
        .name = "dimension-order",
        .short_name = "DO",
        .flags = CPL_ROUTING_PRODUCT,
        .summary = "dimension 0 first, the shorter way round, ties to +",
        .add = add,
        .links = links,
        .hops = hops,
};
