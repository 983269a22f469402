/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Isolated cuboids are the accepted best shape on a torus (Jain 2016, 3). The
 * free nodes of the box of every shape at every origin are counted one
 * dimension after the other: box (s0 .. sk) at o = box (s0 .. sk - 1) at o + box
 * (s0 .. sk-1, 1) at o shifted by sk - 1 along k. In the last dimension only the
 * shortest side that holds the job can be best, since volumes grow with it: it
 * is found by bisection over windows that slide along that dimension.
 * O(shapes of all dimensions but the last * routers * log(last side)): a shape
 * with no wholly free origin has no larger one, and volumes above the best one
 * so far are not looked at.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "placement/placement.h"

struct node_box {
	long volume; /* routers */
	int sides;
	int origin; /* router id */
	int shape[CPL_NETWORK_MAX_DIMS];
};

struct box_search {
	const struct cpl_product *torus;
	int n_routers;
	int per_router; /* nodes, the most of a router */
	int wanted;     /* nodes */
	bool whole;     /* only boxes without a taken node */
	bool found;
	struct node_box best;
	int shape[CPL_NETWORK_MAX_DIMS];
	/* [n_routers] free nodes of boxes with that many sides settled */
	int *count[CPL_NETWORK_MAX_DIMS];
	int *window; /* [n_routers / last side] */
};

/* A box on a dimension without wrap must end at the border. */
static bool fits(const struct box_search *s, int origin)
{
	for (int d = 0; d < s->torus->n_dims; d++) {
		int dim = s->torus->dim[d];
		int x = origin % dim;

		origin /= dim;
		if (x + s->shape[d] > dim && !s->torus->wrap[d])
			return false;
	}
	return true;
}

/* Smaller volume, smaller sum of sides, lower origin, longer first sides. */
static bool better(const struct box_search *s, const struct node_box *b)
{
	const struct node_box *a = &s->best;

	if (!s->found)
		return true;
	if (b->volume != a->volume)
		return b->volume < a->volume;
	if (b->sides != a->sides)
		return b->sides < a->sides;
	if (b->origin != a->origin)
		return b->origin < a->origin;
	for (int d = 0; d < s->torus->n_dims; d++)
		if (b->shape[d] != a->shape[d])
			return b->shape[d] > a->shape[d];
	return false;
}

/* Four at a time, wherever they are. */
typedef int four __attribute__((vector_size(16)));
#define FOUR 4

static inline four load(const int *from)
{
	four v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static inline void store(int *to, four v)
{
	memcpy(to, &v, sizeof(v));
}

static inline bool any_set(four mask)
{
	return mask[0] | mask[1] | mask[2] | mask[3];
}

static void add_counts(int *restrict into, const int *restrict from, int n)
{
	int i = 0;

	for (; i + FOUR <= n; i += FOUR)
		store(into + i, load(into + i) + load(from + i));
	for (; i < n; i++)
		into[i] += from[i];
}

/* window[] becomes that of the next plane; was any of this one, with what
 * comes, at least `need`? */
static bool slide(int *restrict window, const int *comes, const int *goes,
                  int n, int need)
{
	four limit = {need, need, need, need}, found = {0};
	bool last = false;
	int i = 0;

	for (; i + FOUR <= n; i += FOUR) {
		four some = load(window + i) + load(comes + i);

		found |= some >= limit;
		store(window + i, some - load(goes + i));
	}
	for (; i < n; i++) {
		int some = window[i] + comes[i];

		last |= some >= need;
		window[i] = some - goes[i];
	}
	return last || any_set(found);
}

/*
 * The lowest origin of a box with `need` free nodes whose last side is that
 * (s->shape has it then), the others as counted; -1: none up to router `last`. A
 * box clipped at a border has no more than one that is not. O(routers).
 */
static int first_origin(struct box_search *s, const int *count, int side,
                        long need, int last)
{
	int d = s->torus->n_dims - 1, n = s->torus->dim[d];
	int plane = s->n_routers / n, *window = s->window;

	s->shape[d] = side;
	if (need > INT_MAX)
		return -1;
	memset(window, 0, (size_t)plane * sizeof(*window));
	for (int i = 0; i < side - 1; i++)
		add_counts(window, count + (size_t)i * plane, plane);
	for (int at = 0; at < n && at * plane <= last; at++) {
		const int *goes = count + (size_t)at * plane, *comes;
		int ahead = at + side - 1;

		if (ahead >= n && !s->torus->wrap[d])
			return -1;
		comes = count + (size_t)(ahead % n) * plane;
		if (!slide(window, comes, goes, plane, (int)need))
			continue;
		for (int i = 0; i < plane && at * plane + i <= last; i++)
			if (window[i] + goes[i] >= need &&
			    fits(s, at * plane + i))
				return at * plane + i;
	}
	return -1;
}

/* Compare the box of s->shape, if it has an origin, with the best one. */
static void try_shape(struct box_search *s, const int *count, long volume)
{
	struct node_box b = {.volume = volume};
	long need = s->whole ? volume * s->per_router : s->wanted;
	int last = s->n_routers - 1;

	for (int d = 0; d < s->torus->n_dims; d++) {
		b.shape[d] = s->shape[d];
		b.sides += s->shape[d];
	}
	/* Only a lower origin can beat a box of the same volume and sides. */
	if (s->found && b.volume == s->best.volume) {
		if (b.sides > s->best.sides)
			return;
		if (b.sides == s->best.sides)
			last = s->best.origin;
	}
	b.origin = first_origin(s, count, s->shape[s->torus->n_dims - 1], need,
	                        last);
	if (b.origin < 0 || !better(s, &b))
		return;
	s->best = b;
	s->found = true;
}

/* Try the shortest last side for the other sides in s->shape, which have that
 * volume. */
static void try_last(struct box_search *s, const int *count, long volume)
{
	int d = s->torus->n_dims - 1, last = s->n_routers - 1;
	long each = volume * s->per_router, high = s->torus->dim[d];
	long low = (s->wanted + each - 1) / each;

	if (s->found && high > s->best.volume / volume)
		high = s->best.volume / volume;
	if (low > high)
		return;
	if (s->whole)
		high = low;
	else if (first_origin(s, count, (int)high, s->wanted, last) < 0)
		return;
	/* Most sets of sides do no better than the best one. */
	if (low < high &&
	    first_origin(s, count, (int)high - 1, s->wanted, last) < 0)
		low = high;
	CPL_BISECT(low, high, middle,
	           first_origin(s, count, (int)middle, s->wanted, last) < 0);
	s->shape[d] = (int)low;
	try_shape(s, count, volume * low);
}

/* into[o] += from[o shifted by `by` along d], by < its side; clipped at a
 * border. */
static void add_shifted(const struct box_search *s, int *into, const int *from,
                        int d, int by, int stride)
{
	int all = s->torus->dim[d] * stride, ahead = by * stride;

	for (int base = 0; base < s->n_routers; base += all) {
		add_counts(into + base, from + base + ahead, all - ahead);
		if (s->torus->wrap[d])
			add_counts(into + base + all - ahead, from + base,
			           ahead);
	}
}

/* Does any box have so many free nodes? */
static bool any(const int *count, int n, long need)
{
	int least = need > INT_MAX ? INT_MAX : (int)need, i = 0;
	four limit = {least, least, least, least};

	for (; i + 2 * FOUR <= n; i += 2 * FOUR)
		if (any_set((load(count + i) >= limit) |
		            (load(count + i + FOUR) >= limit)))
			return need <= INT_MAX;
	for (; i < n; i++)
		if (count[i] >= need)
			return true;
	return false;
}

/* Try all sides of dimension d and on; volume: of the sides before d. */
static void extend(struct box_search *s, int d, long volume, int stride,
                   long room)
{
	int *count;

	if (d == s->torus->n_dims - 1) {
		try_last(s, s->count[d], volume);
		return;
	}
	count = s->count[d + 1];
	memcpy(count, s->count[d], (size_t)s->n_routers * sizeof(*count));
	room /= s->torus->dim[d];
	for (int side = 1; side <= s->torus->dim[d]; side++) {
		long v = volume * side;
		/* The free nodes with which all dimensions that follow, taken
		 * whole, may hold the job. */
		long need = s->whole ? v * s->per_router
		                     : (s->wanted + room - 1) / room;

		if (s->found && v > s->best.volume)
			break;
		if (side > 1)
			add_shifted(s, count, s->count[d], d, side - 1, stride);
		if (!any(count, s->n_routers, need)) {
			if (s->whole)
				break;
			continue;
		}
		if (need * room < s->wanted)
			continue;
		s->shape[d] = side;
		extend(s, d + 1, v, stride * s->torus->dim[d], room);
	}
	s->shape[d] = 1;
}

/* The free nodes of the box in id order along it, first dimension fastest. */
static void take_nodes(const struct cpl_placement_request *req,
                       const struct node_box *box, int *out)
{
	const struct cpl_product *torus = &req->net->product;
	int n = 0;

	for (long i = 0; i < box->volume && n < req->n_nodes_wanted; i++) {
		long rest = i;
		int origin = box->origin, stride = 1, router = 0;
		struct cpl_nodes nodes;

		for (int d = 0; d < torus->n_dims; d++) {
			int x = origin % torus->dim[d];

			x = (x + (int)(rest % box->shape[d])) % torus->dim[d];
			router += x * stride;
			rest /= box->shape[d];
			origin /= torus->dim[d];
			stride *= torus->dim[d];
		}
		nodes = cpl_network_nodes(req->net, router);
		for (int p = 0; p < nodes.n && n < req->n_nodes_wanted; p++)
			if (req->free[nodes.node[p]])
				out[n++] = nodes.node[p];
	}
}

static int place_blocked(const struct cpl_placement_request *req, int *out,
                         struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	size_t n = (size_t)net->n_routers;
	int levels = net->product.n_dims;
	struct box_search s = {
	        .torus = &net->product,
	        .n_routers = net->n_routers,
	        .wanted = req->n_nodes_wanted,
	        .whole = true,
	};
	/* The last array is the window's. */
	int *counts = calloc(n * (size_t)(levels + 1), sizeof(*counts));

	if (!counts)
		return cpl_fail_memory(err);
	for (int i = 0; i < levels; i++)
		s.count[i] = counts + (size_t)i * n;
	s.window = counts + (size_t)levels * n;
	for (int r = 0; r < net->n_routers; r++)
		if (cpl_network_nodes(net, r).n > s.per_router)
			s.per_router = cpl_network_nodes(net, r).n;
	for (int i = 0; i < net->n_nodes; i++)
		s.count[0][cpl_network_router(net, i)] += req->free[i] != 0;

	extend(&s, 0, 1, 1, net->n_routers);
	if (!s.found) {
		s.whole = false;
		extend(&s, 0, 1, 1, net->n_routers);
	}
	free(counts);
	take_nodes(req, &s.best, out);
	return cpl_placement_require(req, out, err);
}

const struct cpl_placement_policy cpl_placement_blocked = {
        .name = "blocked",
        .short_name = "BLK",
        .summary = "smallest free sub-torus that holds the job",
        .takes = cpl_network_type_is_product,
        .place = place_blocked,
};
