/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort.h"
#include "graph/arena.h"

/* The logarithm of 0.02, by which the end is cooler than the start. */
#define LN_COLDEST -3.912023005428146

struct chain {
	const struct cpl_comm *graph;
	const unsigned char *apart; /* [n * n] distance of two used slots */
	int n;
	int *at, *who;           /* used slot of a rank, and rank of a slot */
	uint64_t draws, chances; /* keys of their streams */
	uint64_t count;
};

static int draw(struct chain *c, int n)
{
	return (int)cpl_random_scale(cpl_random_at(c->draws, c->count++),
	                             (uint64_t)n);
}

/* How much more a's traffic, without that with b, costs at used slot `to`. */
static double change(const struct chain *c, int a, int b, int to)
{
	const struct cpl_comm *graph = c->graph;
	const unsigned char *was = c->apart + (size_t)c->at[a] * c->n;
	const unsigned char *is = c->apart + (size_t)to * c->n;
	double sum = 0;

	for (int64_t e = graph->row[a]; e < graph->row[a + 1]; e++) {
		int used = c->at[graph->to[e]];

		if (graph->to[e] != b)
			sum += graph->bytes[e] * (is[used] - was[used]);
	}
	return sum;
}

/* Half of the draws are slots next to a partner, where a gain is likely. */
static int choose(struct chain *c, int a)
{
	const struct cpl_comm *graph = c->graph;
	int degree = (int)(graph->row[a + 1] - graph->row[a]);
	int near, used;

	if (degree == 0 || draw(c, 2))
		return draw(c, c->n);
	near = c->at[graph->to[graph->row[a] + draw(c, degree)]];
	used = near - 4 + draw(c, 9);
	return used < 0 || used >= c->n ? c->who[near] : c->who[used];
}

/* Each step cools by the steps-th root of 0.02. It is the exponential series of
 * a small number, in basic arithmetic, so that results are the same
 * everywhere. */
static double factor(int64_t steps)
{
	double x = LN_COLDEST / (double)steps, term = 1, sum = 1;

	for (int i = 1; i < 12; i++) {
		term *= x / i;
		sum += term;
	}
	return sum;
}

static void anneal_steps(struct chain *c, int64_t steps, double heat)
{
	double cool = factor(steps);

	for (int64_t i = 0; i < steps; i++, heat *= cool) {
		int a = draw(c, c->n), b = choose(c, a);
		int here = c->at[a], there = c->at[b];
		double more;

		if (a == b)
			continue;
		more = change(c, a, b, there) + change(c, b, a, here);
		if (more > 0 &&
		    more > heat * cpl_random_exponential(cpl_random_at(
		                          c->chances, c->count++)))
			continue;
		c->at[a] = there;
		c->at[b] = here;
		c->who[there] = a;
		c->who[here] = b;
	}
}

int cpl_bind_anneal(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    int64_t steps, uint64_t seed, int *slot,
                    struct cpl_error *err)
{
	int n = graph->ranks;
	struct cpl_arena arena = {0};
	unsigned char *apart = cpl_arena_take(&arena, (int64_t)n * n, 1);
	int *used = cpl_arena_take(&arena, n, sizeof(*used));
	struct chain c = {
	        .graph = graph,
	        .apart = apart,
	        .n = n,
	        .at = cpl_arena_take(&arena, n, sizeof(int)),
	        .who = cpl_arena_take(&arena, n, sizeof(int)),
	        .draws = cpl_random_key(seed, CPL_STREAM_BIND_MOVES),
	        .chances = cpl_random_key(seed, CPL_STREAM_BIND_CHANCES)};
	double heat = 0;

	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	memcpy(used, slot, (size_t)n * sizeof(*used));
	qsort(used, (size_t)n, sizeof(*used), cpl_by_int);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			apart[(size_t)i * n + j] =
			        (unsigned char)cpl_tree_distance(tree, used[i],
			                                         used[j]);
	for (int r = 0; r < n; r++) {
		const int *found = bsearch(&slot[r], used, (size_t)n,
		                           sizeof(*used), cpl_by_int);

		c.at[r] = (int)(found - used);
		c.who[c.at[r]] = r;
	}
	for (int64_t e = 0; e < graph->n_entries; e++)
		heat += graph->bytes[e];
	/* The heat is some partners' traffic, one or two levels on. */
	if (heat > 0)
		anneal_steps(&c, steps, 8 * heat / (double)graph->n_entries);
	for (int r = 0; r < n; r++)
		slot[r] = used[c.at[r]];
	return cpl_arena_end(&arena, 0, err);
}
