/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much links between groups divert, see progressive.h. */
#pragma once

#include "graph/arena.h"
#include "routing/progressive/groups.h"

/* The bytes on detours, by group. */
struct cpl_detours {
	double *pair;      /* [n * (n - 1)] from one to another */
	double *from, *to; /* [n] sums over pairs */
	double all;
};

/* Finds for each link how much of its minimal bytes is diverted: moved[link
 * number], 0 before. minimal[] has the bytes of all flows, under[] those of
 * others. If the arena fails, the results are incomplete. O(sweeps * links with
 * minimal bytes). */
void cpl_equilibrium(const struct cpl_linked_groups *g, const double *under,
                     const double *minimal, double *moved,
                     struct cpl_arena *arena);

/* Takes the arrays, all 0. */
struct cpl_detours cpl_detours_take(const struct cpl_linked_groups *g,
                                    struct cpl_arena *arena);
/* Adds bytes to those that the links of group a to b divert. */
void cpl_detours_add(const struct cpl_linked_groups *g, struct cpl_detours *d,
                     int a, int b, double bytes);

/* What each link from a to b (number pair) carries of others' detours. */
static inline double cpl_detours_of(const struct cpl_linked_groups *g,
                                    const struct cpl_detours *d, int64_t pair,
                                    int a, int b)
{
	double bytes = d->from[a] + d->to[b] - 2 * d->pair[pair];

	return bytes > 0 ? bytes / (g->n - 2) / g->links : 0;
}

static inline double cpl_detours_on(const struct cpl_linked_groups *g,
                                    const struct cpl_detours *d, int a, int b)
{
	return cpl_detours_of(g, d, cpl_groups_pair(g, a, b), a, b);
}
