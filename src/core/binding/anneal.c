/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

#define COLDEST 0.02

struct chain {
	const struct cpl_comm *graph;
	const unsigned char *apart; /* [n * n] distance of two places */
	int n;
	int *at, *who;           /* place of a rank, rank of a place */
	uint64_t draws, chances; /* keys of their streams */
	uint64_t count;
};

static int draw(struct chain *c, int n)
{
	return (int)cpl_random_scale(cpl_random_at(c->draws, c->count++),
	                             (uint64_t)n);
}

/* What a's traffic costs more at place `to`, but for that with b. */
static double change(const struct chain *c, int a, int b, int to)
{
	const struct cpl_comm *graph = c->graph;
	const unsigned char *was = c->apart + (size_t)c->at[a] * c->n;
	const unsigned char *is = c->apart + (size_t)to * c->n;
	double sum = 0;

	for (int64_t e = graph->row[a]; e < graph->row[a + 1]; e++) {
		int place = c->at[graph->to[e]];

		if (graph->to[e] != b)
			sum += graph->bytes[e] * (is[place] - was[place]);
	}
	return sum;
}

/* Half of the time next to a partner, where a gain is likely. */
static int choose(struct chain *c, int a)
{
	const struct cpl_comm *graph = c->graph;
	int degree = (int)(graph->row[a + 1] - graph->row[a]);
	int near, place;

	if (degree == 0 || draw(c, 2))
		return draw(c, c->n);
	near = c->at[graph->to[graph->row[a] + draw(c, degree)]];
	place = near - 4 + draw(c, 9);
	return place < 0 || place >= c->n ? c->who[near] : c->who[place];
}

static void walk(struct chain *c, int64_t steps, double heat)
{
	double cool = pow(COLDEST, 1.0 / (double)steps);

	for (int64_t i = 0; i < steps; i++, heat *= cool) {
		int a = draw(c, c->n), b = choose(c, a);
		int here = c->at[a], there = c->at[b];
		double more;

		if (a == b)
			continue;
		more = change(c, a, b, there) + change(c, b, a, here);
		if (more > 0 &&
		    exp(-more / heat) <
		            (double)(cpl_random_at(c->chances, c->count++) >>
		                     11) /
		                    9007199254740992.0)
			continue;
		c->at[a] = there;
		c->at[b] = here;
		c->who[there] = a;
		c->who[here] = b;
	}
}

int cpl_bind_anneal(const struct cpl_slot_tree *tree,
                    const struct cpl_comm *graph, int64_t steps, uint64_t seed,
                    int *slot, struct cpl_error *err)
{
	int n = graph->ranks, rc = -1;
	struct chain c = {.graph = graph,
	                  .n = n,
	                  .draws = cpl_random_key(seed, 11),
	                  .chances = cpl_random_key(seed, 12)};
	unsigned char *apart = malloc((size_t)n * (size_t)n);
	int *place = malloc((size_t)n * sizeof(*place));
	int *at = malloc((size_t)n * sizeof(*at));
	int *who = malloc((size_t)n * sizeof(*who));
	double heat = 0;

	if (!apart || !place || !at || !who) {
		cpl_fail_memory(err);
		goto done;
	}
	for (int r = 0; r < n; r++)
		place[r] = slot[r];
	qsort(place, (size_t)n, sizeof(*place), cpl_by_int);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			apart[(size_t)i * n + j] =
			        (unsigned char)cpl_slot_distance(tree, place[i],
			                                         place[j]);
	for (int r = 0; r < n; r++) {
		const int *found = bsearch(&slot[r], place, (size_t)n,
		                           sizeof(*place), cpl_by_int);

		at[r] = (int)(found - place);
		who[at[r]] = r;
	}
	for (int64_t e = 0; e < graph->n_entries; e++)
		heat += graph->bytes[e];
	c.apart = apart;
	c.at = at;
	c.who = who;
	/* Some partners' traffic, one or two levels further. */
	if (heat > 0)
		walk(&c, steps, 8 * heat / (double)graph->n_entries);
	for (int r = 0; r < n; r++)
		slot[r] = place[at[r]];
	rc = 0;
done:
	free(apart);
	free(place);
	free(at);
	free(who);
	return rc;
}
