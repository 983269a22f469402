/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is linked into the command and bench programs only, with the mapping
 * room's scotch.c, which takes Scotch's complaints.
 */
#include "commplace-config.h"

#include "binding/binding_internal.h"
#include "graph/arena.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef HAVE_SCOTCH_SCOTCH_H
#include <scotch/scotch.h>
#else
#include <scotch.h>
#endif

#define MAX_LEVELS 32
/* Edges have whole weights: the heaviest gets MAX_WEIGHT, or less so that
 * Scotch's sum of weight times distance stays below MAX_SUM. */
#define MAX_WEIGHT 1000000
#define MAX_SUM 2e9

struct model {
	struct cpl_arena arena;
	SCOTCH_Graph graph;
	SCOTCH_Arch tleaf, part;
	SCOTCH_Strat strat;
	SCOTCH_Num *first, *to, *weight, *leaf; /* leaf[rank] */
	SCOTCH_Num *leaves;                     /* [n_slots] leaf of a slot */
	int *slot_of;                           /* slot of a leaf, or -1 */
	SCOTCH_Num n_leaves;
	int has_graph, has_tleaf, has_part, has_strat;
};

/* Takes each level's most children, and slots as leaves of that tree. */
static int make_leaves(const struct cpl_tree *tree, struct model *m,
                       SCOTCH_Num *arity, struct cpl_error *err)
{
	int levels = tree->n_levels;
	int64_t all = 1;

	for (int l = 0; l < levels; l++) {
		int count = 0, most = 1;

		for (int s = 0; s < tree->n_slots; s++) {
			bool opens = s == 0 ||
			             cpl_tree_object(tree, l, s) !=
			                     cpl_tree_object(tree, l, s - 1);
			bool child =
			        l == levels - 1 || s == 0 ||
			        cpl_tree_object(tree, l + 1, s) !=
			                cpl_tree_object(tree, l + 1, s - 1);

			count = opens ? 1 : count + child;
			if (count > most)
				most = count;
		}
		arity[l] = most;
		all *= most;
		if (all > INT32_MAX / 2)
			return cpl_fail(err, "the tree is too large for "
			                     "Scotch");
	}
	m->n_leaves = (SCOTCH_Num)all;
	m->leaves = cpl_arena_take(&m->arena, tree->n_slots,
	                           sizeof(*m->leaves));
	m->slot_of = cpl_arena_take(&m->arena, all, sizeof(*m->slot_of));
	if (m->arena.failed)
		return -1;
	for (int64_t i = 0; i < all; i++)
		m->slot_of[i] = -1;
	for (int s = 0, at[MAX_LEVELS] = {0}; s < tree->n_slots; s++) {
		SCOTCH_Num leaf = 0;
		int from = levels - 1;

		/* This is the highest level at which a new child starts. */
		for (int l = 0; s && l < levels - 1; l++)
			if (cpl_tree_object(tree, l + 1, s) !=
			    cpl_tree_object(tree, l + 1, s - 1)) {
				from = l;
				break;
			}
		if (s)
			at[from]++;
		for (int l = from + 1; l < levels; l++)
			at[l] = 0;
		for (int l = 0; l < levels; l++)
			leaf = leaf * arity[l] + at[l];
		m->leaves[s] = leaf;
		m->slot_of[leaf] = s;
	}
	return 0;
}

/* farthest is the largest distance of two leaves. */
static int make_graph(const struct cpl_comm *graph, double farthest,
                      struct model *m, struct cpl_error *err)
{
	double most = 0, sum = 0, limit, scale;

	if (graph->n_entries > INT32_MAX - 1)
		return cpl_fail(err, "the pattern is too large for Scotch");
	m->first = cpl_arena_take(&m->arena, graph->ranks + 1,
	                          sizeof(*m->first));
	m->to = cpl_arena_take(&m->arena, graph->n_entries, sizeof(*m->to));
	m->weight = cpl_arena_take(&m->arena, graph->n_entries,
	                           sizeof(*m->weight));
	m->leaf = cpl_arena_take(&m->arena, graph->ranks, sizeof(*m->leaf));
	if (m->arena.failed)
		return -1;
	for (int64_t e = 0; e < graph->n_entries; e++) {
		sum += graph->bytes[e];
		if (graph->bytes[e] > most)
			most = graph->bytes[e];
	}
	scale = most > MAX_WEIGHT ? MAX_WEIGHT / most : 1;
	/* Each pair is there twice, and small weights are rounded up. */
	limit = MAX_SUM / farthest - (double)graph->n_entries;
	if (sizeof(SCOTCH_Num) == sizeof(int32_t) && scale * sum > limit)
		scale = limit > 0 ? limit / sum : 0;
	for (int r = 0; r <= graph->ranks; r++)
		m->first[r] = (SCOTCH_Num)graph->row[r];
	for (int64_t e = 0; e < graph->n_entries; e++) {
		m->to[e] = graph->to[e];
		m->weight[e] = (SCOTCH_Num)(graph->bytes[e] * scale);
		if (m->weight[e] < 1)
			m->weight[e] = 1;
	}
	return 0;
}

static int compute(const struct cpl_tree *tree, const struct cpl_comm *graph,
                   struct model *m, const SCOTCH_Num *arity,
                   const SCOTCH_Num *link, struct cpl_error *err)
{
	SCOTCH_Arch *target = &m->tleaf;

	m->has_graph = !SCOTCH_graphInit(&m->graph);
	m->has_tleaf = !SCOTCH_archInit(&m->tleaf);
	m->has_part = !SCOTCH_archInit(&m->part);
	m->has_strat = !SCOTCH_stratInit(&m->strat);
	/* This makes the answer the same on every call. */
	SCOTCH_randomReset();
	if (!m->has_graph || !m->has_tleaf || !m->has_part || !m->has_strat ||
	    SCOTCH_graphBuild(&m->graph, 0, graph->ranks, m->first, NULL, NULL,
	                      NULL, (SCOTCH_Num)graph->n_entries, m->to,
	                      m->weight) ||
	    SCOTCH_archTleaf(&m->tleaf, tree->n_levels, arity, link))
		return cpl_fail(err, "Scotch refuses the pattern or the tree");
	if (m->n_leaves != tree->n_slots) {
		if (SCOTCH_archSub(&m->part, &m->tleaf, tree->n_slots,
		                   m->leaves))
			return cpl_fail(err, "Scotch refuses a part of the "
			                     "tree");
		target = &m->part;
	}
	if (SCOTCH_graphMap(&m->graph, target, &m->strat, m->leaf))
		return cpl_fail(err, "Scotch finds no mapping");
	return 0;
}

/* Scotch may give a leaf to several ranks: all but one go to free leaves. */
static int spread(const struct cpl_tree *tree, int ranks, const struct model *m,
                  int *slot, int *moved, struct cpl_error *err)
{
	unsigned char *taken = calloc((size_t)tree->n_slots, 1);
	int over = 0;

	if (!taken)
		return cpl_fail_memory(err);
	for (int r = 0; r < ranks; r++) {
		/* The terminals of a part keep the numbers of its tleaf. */
		SCOTCH_Num leaf = m->leaf[r];
		int s = leaf >= 0 && leaf < m->n_leaves ? m->slot_of[leaf] : -1;

		slot[r] = s;
		if (s >= 0 && taken[s]) {
			slot[r] = -1 - s;
			over++;
		} else if (s < 0) {
			slot[r] = -1;
			over++;
		} else {
			taken[s] = 1;
		}
	}
	for (int r = 0; r < ranks; r++) {
		int near = -1 - slot[r], best = -1, least = 0;

		for (int s = 0; slot[r] < 0 && s < tree->n_slots; s++) {
			int d = taken[s] ? 0 : cpl_tree_distance(tree, near, s);

			if (!taken[s] && (best < 0 || d < least)) {
				best = s;
				least = d;
			}
		}
		if (slot[r] < 0) {
			slot[r] = best;
			taken[best] = 1;
		}
	}
	free(taken);
	if (moved)
		*moved = over;
	return 0;
}

int cpl_bind_scotch(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    const int *weight, int *slot, int *moved,
                    struct cpl_error *err)
{
	SCOTCH_Num arity[MAX_LEVELS], link[MAX_LEVELS];
	struct model m = {.n_leaves = 0};
	double farthest = 0;
	int rc = -1;

	if (tree->n_levels == 0 || tree->n_levels > MAX_LEVELS) {
		for (int r = 0; r < graph->ranks; r++)
			slot[r] = r;
		return 0;
	}
	for (int l = 0; l < tree->n_levels; l++) {
		link[l] = weight ? weight[l] : tree->n_levels - l;
		farthest += 2.0 * link[l];
	}
	if (make_leaves(tree, &m, arity, err) == 0 &&
	    make_graph(graph, farthest, &m, err) == 0 &&
	    compute(tree, graph, &m, arity, link, err) == 0)
		rc = spread(tree, graph->ranks, &m, slot, moved, err);
	if (m.has_strat)
		SCOTCH_stratExit(&m.strat);
	if (m.has_part)
		SCOTCH_archExit(&m.part);
	if (m.has_tleaf)
		SCOTCH_archExit(&m.tleaf);
	if (m.has_graph)
		SCOTCH_graphExit(&m.graph);
	return cpl_arena_end(&m.arena, rc, err);
}

static int bind_scotch(const struct cpl_bind_problem *problem, int *slot,
                       struct cpl_error *err)
{
	return cpl_bind_scotch(problem->tree, problem->graph, NULL, slot, NULL,
	                       err);
}

const struct cpl_binder cpl_binder_scotch = {
        .name = "scotch",
        .summary = "Scotch's static mapping onto the tree",
        .bind = bind_scotch,
};

static const struct cpl_entry *const own[] = {&cpl_binder_scotch.entry, NULL};

const struct cpl_registry cpl_binders_and_scotch = {
        .entry = own,
        .exact = true,
        .base = &cpl_binders,
};
