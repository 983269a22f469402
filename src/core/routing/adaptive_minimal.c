/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/dimensions.h"

/* Scales numbers too small for a double, far below any sum's last bit. */
#define TINY 0x1p-400
#define HUGE_SCALE 0x1p+400

/* The box between two routers, for one choice of directions. */
struct router_box {
	const struct cpl_product *torus;
	double *load;
	double bytes;
	int total;                       /* steps in all dimensions */
	int steps[CPL_NETWORK_MAX_DIMS]; /* in each dimension */
	int left[CPL_NETWORK_MAX_DIMS];  /* steps left in each dimension */
	int minus[CPL_NETWORK_MAX_DIMS];
	int stride[CPL_NETWORK_MAX_DIMS];
};

/* A number that may be far below what a double holds. */
struct scaled {
	double x;
	int tiny; /* how many times it is to be scaled by TINY */
};

static int at(const struct cpl_product *torus, int d, int stride, int router)
{
	return router / stride % torus->dim[d];
}

/* The steps of the shortest path in one dimension; *minus is its direction, -1
 * where both are as short. */
static int steps(const struct cpl_product *torus, int d, int from, int to,
                 int *minus)
{
	int n = torus->dim[d];
	int go = cpl_dimension_steps(torus, d, from, to);

	*minus = torus->wrap[d] && n > 1 && 2 * go == n ? -1 : go < 0;
	return go < 0 ? -go : go;
}

/* Of the paths through one router of the box, those that go on in a dimension
 * are in proportion to the steps left in it. */
static void leave(const struct router_box *b, int router, int done,
                  double through)
{
	const struct cpl_product *torus = b->torus;
	double each = b->bytes * through / (b->total - done);

	for (int d = 0; d < torus->n_dims; d++)
		if (b->left[d])
			b->load[torus->out[((int64_t)router * torus->n_dims +
			                    d) * 2 +
			                   b->minus[d]]] += each * b->left[d];
}

/* The share of all paths that go through a router x steps from the source is
 * prod C(steps[d], x[d]) / C(total, sum x); it is carried from a router to its
 * neighbour by the ratio of the two. */
static void spread(struct router_box *b, int d, int router, int done,
                   struct scaled through)
{
	int n = b->steps[d], stride = b->stride[d], length = b->torus->dim[d];

	for (int x = 0; x <= n; x++, done++) {
		int here, next;

		b->left[d] = n - x;
		if (d > 0)
			spread(b, d - 1, router, done, through);
		else if (!through.tiny && done < b->total)
			leave(b, router, done, through.x);
		if (x == n)
			break;
		through.x *= (double)(n - x) / (x + 1) * (done + 1) /
		             (b->total - done);
		if (through.x < TINY) {
			through.x *= HUGE_SCALE;
			through.tiny++;
		} else if (through.tiny && through.x > 1) {
			through.x *= TINY;
			through.tiny--;
		}
		here = at(b->torus, d, stride, router);
		next = b->minus[d] ? (here ? here - 1 : length - 1)
		                   : (here + 1 < length ? here + 1 : 0);
		router += (next - here) * stride;
	}
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	const struct cpl_product *torus = &net->product;
	struct router_box b = {.torus = torus, .load = load, .bytes = bytes};
	int tie[CPL_NETWORK_MAX_DIMS], n_ties = 0, stride = 1;

	for (int d = 0; d < torus->n_dims; d++) {
		int way;

		b.stride[d] = stride;
		b.steps[d] = steps(torus, d, at(torus, d, stride, from),
		                   at(torus, d, stride, to), &way);
		b.minus[d] = way > 0;
		b.total += b.steps[d];
		if (way < 0)
			tie[n_ties++] = d;
		stride *= torus->dim[d];
	}
	b.bytes /= 1 << n_ties;
	for (int mask = 0; mask < 1 << n_ties; mask++) {
		for (int i = 0; i < n_ties; i++)
			b.minus[tie[i]] = mask >> i & 1;
		spread(&b, torus->n_dims - 1, from, 0, (struct scaled){1, 0});
	}
}

const struct cpl_routing cpl_routing_adaptive_minimal = {
        .name = "adaptive-minimal",
        .short_name = "AM",
        .flags = CPL_NETWORK_PRODUCT,
        .summary = "evenly over all shortest paths",
        .add = add_flow,
        .hops = cpl_dimension_hops,
};
