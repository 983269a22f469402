/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

/* Steps in one dimension, above 0 to +, below 0 to -. */
static int steps(const struct cpl_product *torus, int d, int from, int to)
{
	int n = torus->dim[d], plus = to - from;

	if (!torus->wrap[d])
		return plus;
	if (plus < 0)
		plus += n;
	return 2 * plus <= n ? plus : plus - n;
}

static void add(const struct cpl_network *net, int from, int to, double bytes,
                double *load)
{
	const struct cpl_product *torus = &net->product;
	int stride = 1, router = from;

	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d], at = router / stride % n;
		int left = steps(torus, d, at, to / stride % n);
		int minus = left < 0, step = minus ? -1 : 1;

		for (; left; left -= step) {
			int next = at + step;

			load[torus->out[((int64_t)router * torus->n_dims + d) *
			                        2 +
			                minus]] += bytes;
			if (next < 0)
				next += n;
			if (next == n)
				next = 0;
			router += (next - at) * stride;
			at = next;
		}
		stride *= n;
	}
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	const struct cpl_product *torus = &net->product;
	int stride = 1, router = from, found = 0;

	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d];
		int left =
		        steps(torus, d, router / stride % n, to / stride % n);
		int minus = left < 0;

		for (; left; left += minus ? 1 : -1) {
			int64_t at = (int64_t)router * torus->n_dims + d;
			int64_t link = torus->out[at * 2 + minus];

			share[found++] = (struct cpl_share){(int)link, 1};
			router = net->link_to[link];
		}
		stride *= n;
	}
	return found;
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
