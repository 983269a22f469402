/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths in order of dimensions, for the routings that take one or two of them. */
#pragma once

#include "routing/routing.h"

/* The links of a shortest path: one division a dimension. */
static inline double cpl_dimension_hops(const struct cpl_network *net, int from,
                                        int to)
{
	const struct cpl_product *torus = &net->product;
	unsigned a = (unsigned)from, b = (unsigned)to;
	int sum = 0;

	for (int d = 0; d < torus->n_dims; d++) {
		unsigned n = (unsigned)torus->dim[d];
		int way = cpl_dimension_steps(torus, d, (int)(a % n),
		                              (int)(b % n));

		sum += way < 0 ? -way : way;
		a /= n;
		b /= n;
	}
	return sum;
}

/*
 * Puts the bytes on the links of the path, or with share lists the links with that part
 * of the bytes, or with sums puts them there. From dimension 0 on or, `back`, from the
 * last one, the shorter way round; where both are as short to +, back to -. Returns the
 * links. O(them).
 */
static inline __attribute__((always_inline)) int
cpl_follow_dimensions(const struct cpl_network *net, int from, int to, bool back,
                      double bytes, double *load, struct cpl_share *share,
                      const struct cpl_put_on *sums)
{
	const struct cpl_product *torus = &net->product;
	/* Ids above this dimension, or back up to it: each needs one division. */
	unsigned rest = (unsigned)from, rest_to = (unsigned)to;
	int stride = back ? net->n_routers : 1, router = from, found = 0;
	int used = sums ? *sums->n_touched : 0;

	for (int i = 0; i < torus->n_dims; i++) {
		int d = back ? torus->n_dims - 1 - i : i, n = torus->dim[d];
		int at, goal, left, minus, step, border;
		const int64_t *out;
		int64_t ahead;

		stride /= back ? n : 1;
		at = (int)(rest / (unsigned)(back ? stride : n));
		goal = (int)(rest_to / (unsigned)(back ? stride : n));
		if (back) {
			rest -= (unsigned)(at * stride);
			rest_to -= (unsigned)(goal * stride);
		} else {
			unsigned above = (unsigned)at, above_to = (unsigned)goal;

			at = (int)(rest - above * (unsigned)n);
			goal = (int)(rest_to - above_to * (unsigned)n);
			rest = above;
			rest_to = above_to;
		}
		left = cpl_dimension_steps(torus, d, at, goal);
		if (back && torus->wrap[d] && 2 * left == n)
			left = -left;
		minus = left < 0;
		step = minus ? -1 : 1;
		/* Routers up to the one behind the border, then on. */
		border = minus ? at : n - 1 - at;
		ahead = (int64_t)step * stride * torus->n_dims * 2;
		out = torus->out + ((int64_t)router * torus->n_dims + d) * 2 +
		      minus;
		router += (goal - at) * stride;
		for (left *= step; left; left--, found++) {
			if (share)
				share[found] =
				        (struct cpl_share){(int)*out, bytes};
			else
				load[*out] += bytes;
			if (sums && !sums->mark[*out]) {
				sums->mark[*out] = 1;
				sums->touched[used++] = (int)*out;
			}
			out += border-- ? ahead : ahead * (1 - n);
		}
		stride *= back ? 1 : n;
	}
	if (sums)
		*sums->n_touched = used;
	return found;
}
