/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/treematch.h"

#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"
#include "graph/contract.h"
#include "graph/grouping.h"

/* What a level of the tree looks like, and the groups made for it. */
struct tree_level {
	int n_objects, n_children, n_child_types;
	int *child_start; /* [n_objects + 1]; children are numbered in order */
	int *child_type;  /* [n_children] shape of the sub-tree below */
	int *type;        /* [n_objects] shapes of the objects themselves */
	int n_types;
	int n_items;
	int *item_type; /* [n_items] artificial ones included */
	struct cpl_groups groups;
};

static int same_shape(const struct tree_level *l, int a, int b)
{
	int n = l->child_start[a + 1] - l->child_start[a];

	return n == l->child_start[b + 1] - l->child_start[b] &&
	       !memcmp(l->child_type + l->child_start[a],
	               l->child_type + l->child_start[b],
	               (size_t)n * sizeof(int));
}

static int shape_level(const struct cpl_tree *tree, int depth,
                       const struct tree_level *below, struct tree_level *l,
                       struct cpl_arena *arena)
{
	const int *object = tree->object + (size_t)depth * tree->n_slots;
	const int *child = below ? object + tree->n_slots : NULL;
	int *shape;

	l->n_objects = tree->n_objects[depth];
	l->n_children = below ? below->n_objects : tree->n_slots;
	l->n_child_types = below ? below->n_types : 1;
	l->child_start = cpl_arena_take(arena, l->n_objects + 1, sizeof(int));
	l->child_type = cpl_arena_take(arena, l->n_children, sizeof(int));
	l->type = cpl_arena_take(arena, l->n_objects, sizeof(int));
	shape = cpl_arena_take(arena, l->n_objects, sizeof(int));
	if (arena->failed)
		return -1;
	for (int s = 0; s < tree->n_slots; s++)
		l->child_start[object[s] + 1] = child ? child[s] + 1 : s + 1;
	if (below)
		memcpy(l->child_type, below->type,
		       (size_t)l->n_children * sizeof(int));
	for (int o = 0; o < l->n_objects; o++) {
		int t = 0;

		while (t < l->n_types && !same_shape(l, o, shape[t]))
			t++;
		if (t == l->n_types)
			shape[l->n_types++] = o;
		l->type[o] = t;
	}
	return 0;
}

/* Traffic between groups; artificial members have none. */
static struct cpl_comm *aggregate(const struct cpl_comm *graph,
                                  const struct cpl_groups *groups,
                                  struct cpl_error *err)
{
	int *of = calloc((size_t)graph->ranks + 1, sizeof(*of));
	struct cpl_comm *out;

	if (!of)
		return cpl_fail_null_memory(err);
	for (int g = 0; g < groups->n_groups; g++)
		for (int j = groups->start[g]; j < groups->start[g + 1]; j++)
			if (groups->member[j] < graph->ranks)
				of[groups->member[j]] = g;
	out = cpl_comm_contract(graph, of, groups->n_groups, CPL_CONTRACT_BYTES,
	                        err);
	free(of);
	return out;
}

/*
 * Groups of k, by way of smaller groups where k is divided. Only the real
 * members are listed then.
 */
static int group_even(const struct cpl_comm *graph, int k,
                      struct cpl_groups *out, struct cpl_error *err)
{
	int p = (graph->ranks + k - 1) / k * k;
	int d = cpl_treematch_divide(p, k), n = 0, rc = -1;
	struct cpl_groups low = {0}, high = {0};
	struct cpl_comm *between = NULL;

	if (d == 1)
		return cpl_treematch_group(graph, k, out, err);
	memset(out, 0, sizeof(*out));
	if (group_even(graph, k / d, &low, err) < 0)
		goto done;
	between = aggregate(graph, &low, err);
	if (!between || group_even(between, d, &high, err) < 0)
		goto done;
	if (cpl_groups_alloc(out, high.n_groups, graph->ranks, err) < 0)
		goto done;
	for (int g = 0; g < high.n_groups; g++) {
		for (int i = high.start[g]; i < high.start[g + 1]; i++) {
			int m = high.member[i];

			if (m >= low.n_groups)
				continue;
			for (int j = low.start[m]; j < low.start[m + 1]; j++)
				if (low.member[j] < graph->ranks)
					out->member[n++] = low.member[j];
		}
		out->start[g + 1] = n;
	}
	rc = 0;
done:
	cpl_comm_free(between);
	cpl_groups_free(&low);
	cpl_groups_free(&high);
	return rc;
}

static int group_uneven(const struct cpl_comm *graph, const int *item_type,
                        bool (*expired)(void *arg), void *expired_arg,
                        struct tree_level *l, struct cpl_arena *arena,
                        struct cpl_error *err)
{
	int n_types = l->n_child_types, n = graph->ranks;
	int *need = cpl_arena_take(arena, (int64_t)l->n_objects * n_types,
	                           sizeof(*need));
	int *open = cpl_arena_take(arena, n_types, sizeof(*open));

	l->n_items = l->n_children;
	l->item_type =
	        cpl_arena_take(arena, l->n_items, sizeof(*l->item_type));
	if (arena->failed)
		return -1;
	for (int o = 0; o < l->n_objects; o++)
		for (int c = l->child_start[o]; c < l->child_start[o + 1];
		     c++) {
			need[o * n_types + l->child_type[c]]++;
			open[l->child_type[c]]++;
		}
	for (int i = 0; i < graph->ranks; i++) {
		l->item_type[i] = item_type ? item_type[i] : 0;
		open[l->item_type[i]]--;
	}
	for (int t = 0; t < n_types; t++)
		while (open[t]-- > 0)
			l->item_type[n++] = t;
	return cpl_treematch_group_uneven(graph, l->n_items, l->item_type,
	                                  n_types, need, l->n_objects, expired,
	                                  expired_arg, &l->groups, err);
}

/* Number of children when all objects and children are alike, else 0. */
static int even_arity(const struct tree_level *l)
{
	int k = l->child_start[1];

	for (int o = 1; o < l->n_objects; o++)
		if (l->child_start[o + 1] - l->child_start[o] != k)
			return 0;
	return l->n_child_types == 1 ? k : 0;
}

/*
 * Find the item of each child from the items of the objects: members go in
 * order to the children of their shape.
 */
static void map_groups(const struct tree_level *l, const int *item,
                       int *child_item, int *cursor)
{
	const struct cpl_groups *g = &l->groups;

	for (int o = 0; o < l->n_objects; o++) {
		bool empty = item[o] < 0 || item[o] >= g->n_groups;
		int end = empty ? 0 : g->start[item[o] + 1];

		for (int t = 0; t < l->n_child_types; t++)
			cursor[t] = empty ? 0 : g->start[item[o]];
		for (int c = l->child_start[o]; c < l->child_start[o + 1];
		     c++) {
			int t = l->child_type[c];
			int *at = &cursor[t];

			while (l->item_type && *at < end &&
			       l->item_type[g->member[*at]] != t)
				(*at)++;
			child_item[c] = *at < end ? g->member[(*at)++] : -1;
		}
	}
}

int cpl_treematch(const struct cpl_tree *tree, const struct cpl_comm *graph,
                  bool (*expired)(void *arg), void *expired_arg, int *slot,
                  struct cpl_error *err)
{
	int n_slots = tree->n_slots, ranks = graph->ranks, rc = -1;
	struct cpl_arena arena = {0};
	struct tree_level *level =
	        cpl_arena_take(&arena, tree->n_levels, sizeof(*level));
	int *item = cpl_arena_take(&arena, n_slots, sizeof(*item));
	int *child_item = cpl_arena_take(&arena, n_slots, sizeof(*child_item));
	int *cursor = cpl_arena_take(&arena, n_slots, sizeof(*cursor)), *swap;
	const int *item_type = NULL;
	struct cpl_comm *up = NULL;

	if (arena.failed)
		goto done;
	for (int d = tree->n_levels - 1; d >= 0; d--) {
		struct tree_level *l = &level[d];
		struct cpl_comm *below = up;
		int k;

		if (expired && expired(expired_arg)) {
			rc = 1;
			goto done;
		}
		if (shape_level(tree, d, d < tree->n_levels - 1 ? l + 1 : NULL,
		                l, &arena) < 0)
			goto done;
		k = even_arity(l);
		rc = k ? group_even(graph, k, &l->groups, err)
		       : group_uneven(graph, item_type, expired, expired_arg, l,
		                      &arena, err);
		if (rc)
			goto done;
		rc = -1;
		up = aggregate(graph, &l->groups, err);
		cpl_comm_free(below);
		graph = up;
		if (!up)
			goto done;
		/* Groups for uneven objects stand in the objects' order. */
		item_type = l->type;
	}
	for (int d = 0; d < tree->n_levels; d++) {
		map_groups(&level[d], item, child_item, cursor);
		swap = item;
		item = child_item;
		child_item = swap;
	}
	for (int s = 0; s < n_slots; s++)
		if (item[s] >= 0 && item[s] < ranks)
			slot[item[s]] = s;
	rc = 0;

done:
	for (int d = 0; level && d < tree->n_levels; d++)
		cpl_groups_free(&level[d].groups);
	cpl_comm_free(up);
	return cpl_arena_end(&arena, rc, err);
}
