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
 */
#include "domains_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"

#define MAX_ORDERED 5 /* axes of which all orders are tried */

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
	}
	cpl_comm_free(graph);
	if (*bytes == INFINITY)
		return cpl_arena_end(&b.arena,
		                     cpl_fail(err, "less room than ranks"), err);
	return cpl_arena_end(&b.arena, 0, err);
}
