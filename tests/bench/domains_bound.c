/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why no assignment sends less. What is cut is half the sum, over domains, of the
 * bytes between a domain's ranks and all others, so it is enough to know the least
 * F(s) that any s ranks exchange with the rest: the bound is half the least sum of F
 * over numbers of ranks that the domains have room for.
 *
 * F is bounded along the axes of the job's grid, one after the other. A line of an
 * axis are the ranks that differ in its coordinate alone. Of the bytes between two
 * ranks of a line at least b are exchanged by every pair, and what is beyond is cut by
 * at least the least cut m of the line's graph, so that k of its c ranks exchange with
 * the others h(k) = b k (c - k) + m or more where 0 < k < c, and h(0) = h(c) = 0. (b and
 * m are the least of all lines of a slice, m by Stoer and Wagner.) Bytes between ranks
 * that are on no common line are left out, which only makes the bound lower.
 *
 * An axis of length c cuts a slice of the grid into c layers of n ranks. Let a set
 * have s1 >= s2 >= ... >= sc ranks in the layers, from the largest to the smallest.
 * What it cuts inside the layers is known by the axes before. Its lines along the axis
 * hold k ranks each, and of all sets with these layers that one whose layers lie in
 * each other makes the largest k as large and the smallest as small as can be: it has
 * s_j lines with j ranks or more, and any other one's numbers k are majorized by its
 * own (Gale and Ryser). As h is concave its sum over the lines is then the least, and
 * that is the sum over j of (s_j - s_(j+1)) h(j). F of the slice is the least over all
 * s1 ... sc. Where the layers differ, as the first and last stage of a pipeline do,
 * the least of their F is taken for each, or (the better of both is) each its own and,
 * for the axis, h(1) for each of the s1 - sc lines at least that are cut. All orders of
 * the axes give such bounds, and the largest of them holds.
 *
 * A ring of all ranks is cut by t domains in t places at least, only one of which can be
 * its weakest. So that pair is also given the bytes of the next weakest: no assignment
 * sends by more than those fewer between domains than it would then.
 *
 * So far each domain may have the shape that is best for it, though two of the best may
 * want the same ranks. A second bound has the layers of the last axis, stages of a
 * pipeline, dealt out as a whole. Of the first axis, tensor parallel ranks, call a line a
 * cell, and the ranks with the same coordinate t of c in it a slice; slices have the same
 * cells. In a slice domain d has x(d, j) cells of layer j, for each j n(j) in all domains.
 * Inside layer j it exchanges F(x(d, j)) with others, as above, and between two layers as
 * many lines are cut at least as it has more cells in one of them. Of its ranks no slice
 * has more than its share, floor(room / c) cells, but at a price: if one has e(d) more,
 * another has no more than the share, and e(d) cells are in d in the one and not in the
 * other. These are cut, each by the least cut m of a line, and for each d they are others.
 * So all cells that are cut are as many as the sum of e(d) in any slice, and their mean;
 * and what is sent is c times what the least slice has, where each cell above the share
 * costs m / c. That is the least over all x, domain by domain, of what is left of layers.
 *
 * Where cells are cheap to cut, as those beside groups of experts, that tells little. There
 * let domain d have y(d, j) ranks of layer j, whole cells or not, which exchange G(y)
 * inside the layer, by the first axis and those between. A concave function that is never
 * above G is the least of c F(y / c), where F is concave, and of all G that are below
 * that. Its sum over d and j is the least at a corner of what rooms and layers allow, and
 * at corners all y are multiples of c if all rooms are: the same search finds it.
 */
#include "domains_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"

#define MAX_ORDERED 5 /* axes of which all orders are tried */
#define MAX_STATES 100000 /* numbers of cells that may be left of layers */

struct bound {
	const struct domains *how;
	struct cpl_comm *graph; /* both directions summed */
	int n_axes, most;             /* the largest room */
	struct cpl_rank_axis axis[CPL_RANK_GRID_AXES];
	double *line; /* [length^2] of the longest axis */
	double *key;  /* [length] */
	int *state;   /* [length] */
	double *now, *next; /* [(most + 1)^2] */
	struct cpl_arena arena;
};

/* Of a line: bytes of every pair, and what every cut of the rest has. */
struct line_cut {
	double pair, cut;
};

static double at_least(int k, int c, struct line_cut l)
{
	return k > 0 && k < c ? l.pair * k * (c - k) + l.cut : 0;
}

/* The least cut of a graph of c vertices, whose weights are used up. */
static double least_cut(double *w, int c, double *key, int *state)
{
	double best = INFINITY;

	memset(state, 0, (size_t)c * sizeof(*state));
	for (int left = c; left > 1; left--) {
		int last = -1, before = -1;

		for (int i = 0; i < c; i++) {
			key[i] = 0;
			state[i] = state[i] < 0 ? -1 : 0;
		}
		for (int n = 0; n < left; n++) {
			int v = -1;

			for (int i = 0; i < c; i++)
				if (!state[i] && (v < 0 || key[i] > key[v]))
					v = i;
			state[v] = 1;
			before = last;
			last = v;
			for (int i = 0; i < c; i++)
				key[i] += state[i] ? 0 : w[v * c + i];
		}
		best = key[last] < best ? key[last] : best;
		for (int i = 0; i < c; i++) {
			w[before * c + i] += w[last * c + i];
			w[i * c + before] = w[before * c + i];
		}
		w[before * c + before] = 0;
		state[last] = -1;
	}
	return best;
}

static struct line_cut cut_line(struct bound *b, const struct cpl_rank_axis *a,
                                int first)
{
	int c = a->length;
	struct line_cut out = {INFINITY, 0};

	memset(b->line, 0, (size_t)c * (size_t)c * sizeof(double));
	for (int i = 0; i < c; i++) {
		int r = first + i * a->stride;

		for (int64_t e = b->graph->row[r]; e < b->graph->row[r + 1]; e++) {
			int off = b->graph->to[e] - first;

			if (off >= 0 && off % a->stride == 0 && off / a->stride < c)
				b->line[i * c + off / a->stride] =
				        b->graph->bytes[e];
		}
	}
	for (int i = 0; i < c * c; i++)
		if (i / c != i % c && b->line[i] < out.pair)
			out.pair = b->line[i];
	for (int i = 0; i < c * c; i++)
		b->line[i] -= i / c != i % c ? out.pair : 0;
	out.cut = least_cut(b->line, c, b->key, b->state);
	return out;
}

/* The least of the lines along axis `at` of the slice that begins at a rank. */
static struct line_cut cut_lines(struct bound *b, int at, int first)
{
	struct line_cut least = {INFINITY, INFINITY};
	int n = 1;

	for (int i = 0; i < at; i++)
		n *= b->axis[i].length;
	for (int l = 0; l < n; l++) {
		int rank = first, left = l;
		struct line_cut cut;

		for (int i = 0; i < at; i++) {
			rank += left % b->axis[i].length * b->axis[i].stride;
			left /= b->axis[i].length;
		}
		cut = cut_line(b, &b->axis[at], rank);
		least.pair = fmin(least.pair, cut.pair);
		least.cut = fmin(least.cut, cut.cut);
	}
	return least;
}

static void fill(double *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = INFINITY;
}

/* out[s] from f[0 .. n] of every one of c layers, by their numbers in order. */
static void stack_alike(struct bound *b, const double *f, int n, int c,
                        struct line_cut l, double *out)
{
	int wide = b->most + 1;

	fill(b->now, wide * wide);
	for (int v = 0; v <= n; v++)
		b->now[v * wide + v] = f[v];
	for (int j = 1; j < c; j++) {
		double *swap = b->now;

		fill(b->next, wide * wide);
		for (int v = 0; v <= n; v++)
			for (int s = v; s <= b->most; s++)
				for (int u = 0; u <= v && s + u <= b->most; u++) {
					double *to = &b->next[u * wide + s + u];

					*to = fmin(*to, b->now[v * wide + s] + f[u] +
					           (v - u) * at_least(j, c, l));
				}
		b->now = b->next;
		b->next = swap;
	}
	fill(out, wide);
	for (int v = 0; v <= n; v++)
		for (int s = 0; s <= b->most; s++)
			out[s] = fmin(out[s], b->now[v * wide + s]);
}

/* The same from f[layer][...], layers that have low to high ranks each. */
static void stack_between(struct bound *b, const double *f, int low, int high, int c,
                          struct line_cut l, double *out)
{
	int wide = b->most + 1;

	fill(b->now, wide);
	b->now[0] = 0;
	for (int j = 0; j < c; j++) {
		double *swap = b->now;

		fill(b->next, wide);
		for (int s = 0; s <= b->most; s++)
			for (int u = low; u <= high && s + u <= b->most; u++)
				b->next[s + u] = fmin(b->next[s + u],
				                      b->now[s] + f[j * wide + u]);
		b->now = b->next;
		b->next = swap;
	}
	for (int s = 0; s <= b->most; s++)
		out[s] = fmin(out[s], b->now[s] +
		                              (high - low) * at_least(1, c, l));
}

/* Is any layer another than the first? f[layer][0 .. n] */
static bool differ(const double *f, int wide, int n, int c)
{
	for (int j = 1; j < c; j++)
		for (int s = 0; s <= n; s++)
			if (fabs(f[j * wide + s] - f[s]) > 1e-9 * f[s])
				return true;
	return false;
}

/* out[0 .. most]: the least that so many ranks of the slice of the first `axes` axes
 * at rank `first` exchange with its others; infinite: it has not as many. */
static void bound_slice(struct bound *b, int axes, int first, double *out)
{
	int wide = b->most + 1, n = 1, c;
	const struct cpl_rank_axis *a;
	struct line_cut lines;
	double *f, *least;

	fill(out, wide);
	out[0] = 0;
	if (!axes) {
		out[1] = 0;
		return;
	}
	a = &b->axis[axes - 1];
	c = a->length;
	f = cpl_arena_take(&b->arena, (int64_t)(c + 1) * wide, sizeof(*f));
	if (!f)
		return;
	for (int i = 0; i < axes - 1; i++)
		n *= b->axis[i].length;
	n = n < b->most ? n : b->most;
	least = f + c * wide;
	fill(least, wide);
	for (int j = 0; j < c; j++) {
		bound_slice(b, axes - 1, first + j * a->stride, f + j * wide);
		for (int s = 0; s <= b->most; s++)
			least[s] = fmin(least[s], f[j * wide + s]);
	}
	lines = cut_lines(b, axes - 1, first);
	stack_alike(b, least, n, c, lines, out);
	if (!differ(f, wide, n, c))
		return;
	fill(least, wide);
	for (int low = 0; low <= n; low++)
		for (int high = low; high <= n; high++)
			stack_between(b, f, low, high, c, lines, least);
	for (int s = 0; s <= b->most; s++)
		out[s] = fmax(out[s], least[s]);
}

/* Every order of the axes from `from` on, the largest bound into best[]. */
static void bound_orders(struct bound *b, int from, double *one, double *best)
{
	if (from >= b->n_axes - 1 || b->n_axes > MAX_ORDERED) {
		bound_slice(b, b->n_axes, 0, one);
		for (int s = 0; s <= b->most; s++)
			best[s] = fmax(best[s], one[s]);
		return;
	}
	for (int i = from; i < b->n_axes; i++) {
		struct cpl_rank_axis swap = b->axis[from];

		b->axis[from] = b->axis[i];
		b->axis[i] = swap;
		bound_orders(b, from + 1, one, best);
		b->axis[i] = b->axis[from];
		b->axis[from] = swap;
	}
}

/* The least sum of f over numbers that the domains have room for. */
static double deal(struct bound *b, const double *f, double *now, double *next)
{
	const struct domains *how = b->how;
	int ranks = how->comm->ranks;

	fill(now, ranks + 1);
	now[0] = 0;
	for (int d = 0; d < how->n; d++) {
		double *swap = now;

		fill(next, ranks + 1);
		for (int r = 0; r <= ranks; r++)
			for (int s = 0; s <= how->room[d] && r + s <= ranks;
			     s += how->multiple)
				next[r + s] = fmin(next[r + s], now[r] + f[s]);
		now = next;
		next = swap;
	}
	return now[ranks] / 2;
}

/* Layers of cells, dealt out to domains. */
struct layers {
	const struct domains *how;
	int c, n, inner, step; /* layers; cells of each; ranks of a cell; see numbers */
	int states;            /* (n + 1)^c numbers of cells that were dealt of each */
	double *inside;        /* [c * (n + 1)] of so many cells of a layer */
	double *between;       /* [c^2] of a line between two layers */
	double dear;           /* of a cell above the share */
	int share, most;       /* of the domain; all of a slice */
	int *x;                /* [c] cells that it gets */
	double *now, *next;    /* [states] */
	double limit;          /* what costs as much is left out */
};

/* What a domain with cells x[] exchanges with others, half of it, for itself. */
static double cost_of_cells(const struct layers *l, int sum)
{
	double out = 0;

	for (int j = 0; j < l->c; j++) {
		out += l->inside[j * (l->n + 1) + l->x[j]];
		for (int k = 0; k < j; k++)
			out += l->between[j * l->c + k] * abs(l->x[j] - l->x[k]);
	}
	return out / 2 + (sum > l->share ? (sum - l->share) * l->dear : 0);
}

/* From all numbers from which it can be: layers from `at` on are open. */
static void deal_cells(struct layers *l, int at, int from, int to, double cost)
{
	int room = l->n - l->x[at], stride = 1;
	const double *restrict now;
	double *restrict next;

	for (int j = at + 1; j < l->c; j++)
		stride *= l->n + 1;
	to += l->x[at] * stride;
	for (int i = 0; i <= room && at < l->c - 1; i++)
		deal_cells(l, at + 1, from + i * stride, to + i * stride, cost);
	if (at < l->c - 1)
		return;
	now = l->now + from;
	next = l->next + to;
	for (int i = 0; i <= room; i++)
		next[i] = now[i] + cost < next[i] ? now[i] + cost : next[i];
}

/* All numbers of cells that a domain can get of layers from `at` on. */
static void try_cells(struct layers *l, int at, int sum)
{
	double cost;

	if (at < l->c) {
		for (int i = 0; i <= l->n && sum + i <= l->most; i++) {
			l->x[at] = i;
			try_cells(l, at + 1, sum + i);
		}
		return;
	}
	cost = cost_of_cells(l, sum);
	if (sum % l->step == 0 && cost < l->limit)
		deal_cells(l, 0, 0, 0, cost);
}

/* The least that a slice has, with no cells above the share or (open) some. */
static double deal_layers(struct layers *l, bool open)
{
	fill(l->now, l->states);
	l->now[0] = 0;
	for (int d = 0; d < l->how->n; d++) {
		double *swap = l->now;

		fill(l->next, l->states);
		l->share = l->how->room[d] / l->inner;
		l->most = open ? l->how->room[d] : l->share;
		try_cells(l, 0, 0);
		l->now = l->next;
		l->next = swap;
	}
	return l->now[l->states - 1];
}

/* Bytes of a line of the axis between places i and k, the least of all lines. */
static double least_between(struct bound *b, const struct cpl_rank_axis *a, int i, int k)
{
	double least = INFINITY;

	for (int r = 0; r < b->graph->ranks; r++) {
		int to = r + (k - i) * a->stride;
		double bytes = 0;

		if (r / a->stride % a->length != i)
			continue;
		for (int64_t e = b->graph->row[r]; e < b->graph->row[r + 1]; e++)
			bytes += b->graph->to[e] == to ? b->graph->bytes[e] : 0;
		least = fmin(least, bytes);
	}
	return least;
}

/* What cells of each layer exchange inside, by the axes between the first, if that makes
 * cells, and the last; and between layers. */
static void fill_layers(struct bound *b, struct layers *l)
{
	int cell = l->inner > 1, wide = l->n + 1;
	const struct cpl_rank_axis *last = &b->axis[b->n_axes - 1];
	double *one = cpl_arena_take(&b->arena, wide, sizeof(*one));
	struct bound middle = *b; /* its arena is this one's further on */
	int slices = cell ? b->axis[0].length : 1;

	middle.n_axes = b->n_axes - 1 - cell;
	middle.most = l->n < b->most ? l->n : b->most;
	memmove(middle.axis, b->axis + cell, (size_t)middle.n_axes * sizeof(*last));
	if (!one)
		return;
	fill(one, wide);
	fill(l->inside, l->c * wide);
	for (int j = 0; j < l->c; j++) {
		for (int t = 0; t < slices; t++) {
			int first = j * last->stride +
			            (cell ? t * b->axis[0].stride : 0);

			bound_slice(&middle, middle.n_axes, first, one);
			for (int s = 0; s < wide; s++)
				l->inside[j * wide + s] = fmin(
				        l->inside[j * wide + s], one[s]);
		}
		for (int k = 0; k < j; k++)
			l->between[j * l->c + k] = least_between(b, last, j, k);
	}
	b->arena = middle.arena;
}

/* What the least line of the first axis has that is cut. */
static double least_cell(struct bound *b)
{
	const struct cpl_rank_axis *a = &b->axis[0];
	double least = INFINITY;

	for (int r = 0; r < b->graph->ranks; r++)
		if (r / a->stride % a->length == 0)
			least = fmin(least,
			             at_least(1, a->length, cut_line(b, a, r)));
	return least;
}

/* Lays a ceiling on what cells of a layer exchange: the least by which ranks that are no
 * whole cells fall below it. `largest` ranks are as many as a domain has. */
static void cap_layer(struct bound *b, struct layers *l, int layer, double *one)
{
	const struct cpl_rank_axis *last = &b->axis[b->n_axes - 1];
	double *f = &l->inside[layer * (l->n + 1)], cap = INFINITY;
	struct bound turned = *b;

	turned.n_axes = b->n_axes - 1;
	memmove(turned.axis, b->axis + 1, (size_t)turned.n_axes * sizeof(*last));
	turned.axis[turned.n_axes - 1] = b->axis[0];
	bound_slice(&turned, turned.n_axes, layer * last->stride, one);
	b->arena = turned.arena;
	for (int y = 1; y <= b->most && y < l->n * l->inner; y++) {
		int k = y / l->inner, over = y % l->inner;
		double line = f[k] * (l->inner - over);

		line += over ? f[k + 1] * over : 0;
		if (one[y] < line * (1 - 1e-9))
			cap = fmin(cap, one[y]);
	}
	for (int k = 0; k <= l->n; k++)
		f[k] = fmin(f[k], cap / l->inner);
}

static bool is_concave(const double *f, int n)
{
	for (int k = 1; k < n; k++)
		if (2 * f[k] < (f[k - 1] + f[k + 1]) * (1 - 1e-9))
			return false;
	return true;
}

/* The third bound, of all inside layers alone; 0: it cannot be told so. */
static double bound_corners(struct bound *b, struct layers *l)
{
	double *one = cpl_arena_take(&b->arena, b->most + 1, sizeof(*one));

	if (!one)
		return 0;
	for (int d = 0; d < b->how->n; d++)
		if (b->how->room[d] % l->inner)
			return 0;
	for (int j = 0; j < l->c; j++) {
		if (!is_concave(&l->inside[j * (l->n + 1)], l->n))
			return 0;
		cap_layer(b, l, j, one);
	}
	memset(l->between, 0, (size_t)l->c * (size_t)l->c * sizeof(double));
	l->limit = INFINITY;
	return deal_layers(l, false);
}

/* The second bound, with cells of `inner` ranks: the first axis', or 1; 0: it would be
 * too much to do. */
static double bound_layers(struct bound *b, int inner)
{
	int ranks = b->graph->ranks, axes = b->n_axes - (inner > 1);
	struct layers l = {.how = b->how,
	                   .inner = inner,
	                   .states = 1,
	                   .step = inner > 1 ? 1 : b->how->multiple};
	double strict, out;

	if (axes < 2)
		return 0;
	l.c = b->axis[b->n_axes - 1].length;
	l.n = ranks / inner / l.c;
	for (int j = 0; j < l.c; j++) {
		if (l.states > MAX_STATES / (l.n + 1))
			return 0;
		l.states *= l.n + 1;
	}
	l.inside = cpl_arena_take(&b->arena, (int64_t)l.c * (l.n + 1), sizeof(double));
	l.between = cpl_arena_take(&b->arena, (int64_t)l.c * l.c, sizeof(double));
	l.x = cpl_arena_take(&b->arena, l.c, sizeof(int));
	l.now = cpl_arena_take(&b->arena, l.states, sizeof(double));
	l.next = cpl_arena_take(&b->arena, l.states, sizeof(double));
	if (b->arena.failed)
		return 0;
	fill_layers(b, &l);
	l.limit = INFINITY;
	out = strict = deal_layers(&l, false);
	if (inner > 1) {
		l.limit = strict;
		l.dear = least_cell(b) / inner;
		out = fmin(strict, deal_layers(&l, true));
		if (out < strict)
			out = fmax(out, bound_corners(b, &l));
	}
	return out < INFINITY ? out * inner : 0;
}

/* The entry of rank r for the next rank of the ring of all; NULL: there is none. */
static double *entry(struct cpl_comm *graph, int r, int to)
{
	for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
		if (graph->to[e] == to)
			return &graph->bytes[e];
	return NULL;
}

/* Gives the weakest pair of the ring of all ranks what the next weakest has. Returns the
 * bytes that are added. */
static double close_ring(struct cpl_comm *graph)
{
	int ranks = graph->ranks, at = -1;
	double least = INFINITY, next = INFINITY;

	for (int r = 0; r < ranks; r++) {
		double *pair = entry(graph, r, (r + 1) % ranks);

		if (!pair)
			return 0;
		if (*pair < least) {
			next = least;
			least = *pair;
			at = r;
		} else if (*pair < next) {
			next = *pair;
		}
	}
	if (ranks < 3)
		return 0;
	*entry(graph, at, (at + 1) % ranks) = next;
	*entry(graph, (at + 1) % ranks, at) = next;
	return next - least;
}

int domains_bound(const struct domains *how, double *bytes, struct cpl_error *err)
{
	struct bound b = {.how = how};
	struct cpl_comm *graph = cpl_comm_symmetric(how->comm, err);
	int64_t ranks = how->comm->ranks, longest = 1, wide;
	double *sums, *one, *best;

	if (!graph)
		return -1;
	b.graph = graph;
	b.n_axes = cpl_rank_grid_axes(how->grid, b.axis);
	for (int i = 0; i < b.n_axes; i++)
		longest = b.axis[i].length > longest ? b.axis[i].length : longest;
	for (int d = 0; d < how->n; d++)
		b.most = how->room[d] > b.most ? how->room[d] : b.most;
	b.most = b.most < ranks ? b.most : (int)ranks;
	wide = b.most + 1;
	b.line = cpl_arena_take(&b.arena, longest * longest, sizeof(double));
	b.key = cpl_arena_take(&b.arena, longest, sizeof(double));
	b.state = cpl_arena_take(&b.arena, longest, sizeof(int));
	b.now = cpl_arena_take(&b.arena, wide * wide, sizeof(double));
	b.next = cpl_arena_take(&b.arena, wide * wide, sizeof(double));
	one = cpl_arena_take(&b.arena, wide, sizeof(double));
	best = cpl_arena_take(&b.arena, wide, sizeof(double));
	sums = cpl_arena_take(&b.arena, 2 * (ranks + 1), sizeof(double));
	*bytes = 0;
	for (int turn = 0; !b.arena.failed && turn < 2; turn++) {
		double more = turn ? close_ring(graph) : 0;

		memset(best, 0, (size_t)wide * sizeof(*best));
		bound_orders(&b, 0, one, best);
		*bytes = fmax(*bytes,
		              deal(&b, best, sums, sums + ranks + 1) - more);
		if (turn)
			continue;
		*bytes = fmax(*bytes, bound_layers(&b, 1));
		*bytes = fmax(*bytes, bound_layers(&b, b.axis[0].length));
	}
	cpl_comm_free(graph);
	if (*bytes == INFINITY)
		return cpl_arena_end(&b.arena,
		                     cpl_fail(err, "less room than ranks"), err);
	return cpl_arena_end(&b.arena, 0, err);
}
