/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The equilibrium is found link by link: each diverts up to the point where its
 * own bytes and the detours are equally good (Gauss-Seidel with bounds),
 * forwards and backwards in turn. All that a link has to know of the others are
 * sums by group, so that a step is O(1):
 *
 * - a link between groups a and b carries (from[a] + to[b] - 2 pair[a, b]) /
 *   ((n - 2) K) of others' detours;
 * - diverting moves bytes from links out of a to other links out of a, so that
 *   all links out of a group, and into one, have more than without any detour
 *   only by what passes through: (all - from[a] - to[a]) / (n - 2).
 */
#include "routing/progressive/equilibrium.h"

#include <math.h>

/* The last sweep moves at most this share of a link's largest minimal bytes. */
#define SETTLED 1e-10
#define MAX_SWEEPS 1000

struct root_search {
	const struct cpl_linked_groups *g;
	struct cpl_detours d;
	const double *minimal;
	double *moved;
	double *bytes;     /* [links] minimal bytes and others' */
	double *pair;      /* [pairs] their sums */
	double *out, *in;  /* [n] */
	double threshold, weight;
	double step; /* by how much a moved byte narrows the gap */
};

struct cpl_detours cpl_detours_take(const struct cpl_linked_groups *g,
                                    struct cpl_arena *arena)
{
	struct cpl_detours d = {
	        .pair = cpl_arena_take(arena, (int64_t)g->n * (g->n - 1),
	                               sizeof(double)),
	        .from = cpl_arena_take(arena, g->n, sizeof(double)),
	        .to = cpl_arena_take(arena, g->n, sizeof(double))};

	return d;
}

void cpl_detours_add(const struct cpl_linked_groups *g, struct cpl_detours *d,
                     int a, int b, double bytes)
{
	d->pair[cpl_groups_pair(g, a, b)] += bytes;
	d->from[a] += bytes;
	d->to[b] += bytes;
	d->all += bytes;
}

/* All bytes out of a group, or into it. */
static double around(const struct root_search *s, const double *sum, int group)
{
	return sum[group] + (s->d.all - s->d.from[group] - s->d.to[group]) /
	                            (s->g->n - 2);
}

/* A link that has minimal bytes. */
struct used {
	int64_t link, pair;
	int a, b;
};

/* By how much the bytes of a link exceed what makes detours worth it. */
static double gap(const struct root_search *s, const struct used *u)
{
	const struct cpl_linked_groups *g = s->g;
	double each = cpl_detours_of(g, &s->d, u->pair, u->a, u->b);
	double here = s->pair[u->pair] - s->d.pair[u->pair] + g->links * each;
	double mean = (around(s, s->out, u->a) + around(s, s->in, u->b) -
	               2 * here) /
	              (2.0 * (g->n - 2) * g->links);

	return s->bytes[u->link] - s->moved[u->link] + each -
	       s->weight * mean - s->threshold;
}

/* Moves bytes until the gap or the link's bytes are gone; returns how many. */
static double settle(struct root_search *s, const struct used *u)
{
	double more = gap(s, u) / s->step;
	double least = -s->moved[u->link];
	double most = s->minimal[u->link] - s->moved[u->link];

	more = more > least ? more : least;
	more = more < most ? more : most;
	s->moved[u->link] += more;
	s->d.pair[u->pair] += more;
	s->d.from[u->a] += more;
	s->d.to[u->b] += more;
	s->d.all += more;
	return fabs(more);
}

static struct used used_of(const struct cpl_linked_groups *g, int64_t link)
{
	int64_t pair = link / g->links;
	int a = (int)(pair / (g->n - 1)), b = (int)(pair % (g->n - 1));

	return (struct used){
	        .link = link, .pair = pair, .a = a, .b = b + (b >= a)};
}

static void sum_up(struct root_search *s, const double *under, int64_t links)
{
	const struct cpl_linked_groups *g = s->g;

	for (int64_t l = 0; l < links; l++) {
		struct used u = used_of(g, l);

		s->bytes[l] = under[l] + s->minimal[l];
		s->pair[u.pair] += s->bytes[l];
		s->out[u.a] += s->bytes[l];
		s->in[u.b] += s->bytes[l];
	}
}

static void sweeps(struct root_search *s, const struct used *used, int64_t n,
                   double largest)
{
	for (int i = 0; i < MAX_SWEEPS; i++) {
		double most = 0;

		for (int64_t k = 0; k < n; k++) {
			double by = settle(s, &used[i % 2 ? n - 1 - k : k]);

			most = by > most ? by : most;
		}
		if (most <= SETTLED * largest)
			break;
	}
}

void cpl_equilibrium(const struct cpl_linked_groups *g, const double *under,
                     const double *minimal, double *moved,
                     struct cpl_arena *arena)
{
	int64_t pairs = (int64_t)g->n * (g->n - 1), links = pairs * g->links;
	struct root_search s = {
	        .g = g,
	        .minimal = minimal,
	        .moved = moved,
	        .threshold = g->net->detour_threshold,
	        .weight = g->net->detour_weight,
	        .bytes = cpl_arena_take(arena, links, sizeof(double)),
	        .pair = cpl_arena_take(arena, pairs, sizeof(double)),
	        .out = cpl_arena_take(arena, g->n, sizeof(double)),
	        .in = cpl_arena_take(arena, g->n, sizeof(double)),
	        .d = cpl_detours_take(g, arena)};
	struct used *used = cpl_arena_take_raw(arena, links, sizeof(*used));
	int64_t n = 0;
	double largest = 0;

	if (arena->failed || g->n < 3)
		return;
	s.step = 1 + s.weight / (g->n - 2) / g->links;
	sum_up(&s, under, links);
	for (int64_t l = 0; l < links; l++)
		if (minimal[l] > 0) {
			used[n++] = used_of(g, l);
			largest = fmax(largest, minimal[l]);
		}
	sweeps(&s, used, n, largest);
}
