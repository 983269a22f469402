/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments that are wished for: of each domain the set gets a multiple of their nodes.
 * It keeps what whole segments its domains have, and of the rest those that lack
 * least are filled up from the free nodes of its units. */
#include <limits.h>
#include <stdlib.h>

#include "base/sort.h"
#include "graph/arena.h"
#include "placement/bounds.h"

/* Turn of nodes that are not of the set. */
#define NOT_CHOSEN INT_MAX

struct wish_home {
	int chosen, required; /* nodes of the set */
	int has;              /* them, and free ones of its units */
	int takes;            /* a multiple of the wish */
	int turn;             /* of its first one in the set */
};

struct wish_node {
	int node, home, turn, home_turn;
	bool required;
};

struct wish {
	const struct cpl_placement_request *req;
	const struct cpl_bounds *b;
	struct wish_home *home; /* [n_homes] */
	struct wish_node *list; /* [n_list] that may be had, by home */
	int n_list;
	struct cpl_arena arena;
};

/* By home, its required nodes first, then those of the set in turn, then others. */
static CPL_SORT_BY(by_home, struct wish_node, CPL_UP(home), CPL_DOWN(required),
                   CPL_UP(turn), CPL_UP(node))

/* Homes in the order of the set, their nodes in turn. */
static CPL_SORT_BY(by_turn, struct wish_node, CPL_UP(home_turn), CPL_UP(home),
                   CPL_UP(turn), CPL_UP(node))

static int list_nodes(struct wish *w, const int *chosen)
{
	const struct cpl_placement_request *req = w->req;
	const struct cpl_bounds *b = w->b;
	int n = req->net->n_nodes;
	int *turn = cpl_arena_take_raw(&w->arena, n, sizeof(*turn));
	bool *used = cpl_arena_take(&w->arena, b->n_units, sizeof(*used));
	bool *required = cpl_arena_take(&w->arena, n, sizeof(*required));

	w->list = cpl_arena_take(&w->arena, n, sizeof(*w->list));
	w->home = cpl_arena_take(&w->arena, b->n_homes, sizeof(*w->home));
	if (w->arena.failed)
		return -1;
	for (int i = 0; i < n; i++)
		turn[i] = NOT_CHOSEN;
	for (int i = 0; i < req->n_nodes_wanted; i++) {
		turn[chosen[i]] = i;
		if (b->unit[chosen[i]] >= 0)
			used[b->unit[chosen[i]]] = true;
	}
	for (int i = 0; i < req->n_required; i++)
		required[req->required[i]] = true;
	for (int h = 0; h < b->n_homes; h++)
		w->home[h].turn = NOT_CHOSEN;
	for (int i = 0; i < n; i++) {
		struct wish_home *home;

		if (!req->free[i] || b->home[i] < 0 || b->unit[i] < 0 ||
		    !used[b->unit[i]])
			continue;
		home = &w->home[b->home[i]];
		home->has++;
		home->chosen += turn[i] != NOT_CHOSEN;
		home->required += required[i];
		if (turn[i] < home->turn)
			home->turn = turn[i];
		w->list[w->n_list++] = (struct wish_node){
		        i, b->home[i], turn[i], NOT_CHOSEN, required[i]};
	}
	return 0;
}

/* How many nodes that are not of the set one segment more would take. */
static int new_nodes(const struct wish *w, const struct wish_home *home)
{
	int left = home->chosen - home->takes;

	return left >= w->b->wish ? 0 : w->b->wish - (left > 0 ? left : 0);
}

/* Shares of the homes. False: there are none. */
static bool share_out(struct wish *w)
{
	int each = w->b->wish, left = w->req->n_nodes_wanted, required = 0;

	for (int h = 0; h < w->b->n_homes; h++) {
		struct wish_home *home = &w->home[h];
		int must = (home->required + each - 1) / each * each;

		if (must > home->has)
			return false;
		home->takes = must;
		required += home->required;
		left -= must;
	}
	if (required != w->req->n_required || left < 0 || left % each)
		return false;
	while (left > 0) {
		int best = -1;

		for (int h = 0; h < w->b->n_homes; h++)
			if (w->home[h].takes + each <= w->home[h].has &&
			    (best < 0 || new_nodes(w, &w->home[h]) <
			                         new_nodes(w, &w->home[best])))
				best = h;
		if (best < 0)
			return false;
		w->home[best].takes += each;
		left -= each;
	}
	return true;
}

/* Out of the list those that the homes take. */
static void take_nodes(struct wish *w, int *out)
{
	int n = 0;

	qsort(w->list, (size_t)w->n_list, sizeof(*w->list), by_home);
	for (int i = 0; i < w->n_list; i++) {
		struct wish_home *home = &w->home[w->list[i].home];

		if (!home->takes)
			continue;
		home->takes--;
		w->list[n] = w->list[i];
		w->list[n++].home_turn = home->turn;
	}
	qsort(w->list, (size_t)n, sizeof(*w->list), by_turn);
	for (int i = 0; i < n; i++)
		out[i] = w->list[i].node;
}

bool cpl_bounds_granted(const struct cpl_bounds *bounds, const int *node, int n)
{
	int *count;
	bool whole = true;

	if (!bounds->wish)
		return true;
	count = calloc((size_t)bounds->n_homes, sizeof(*count));
	whole = count != NULL;
	for (int i = 0; i < n && whole; i++) {
		whole = bounds->home[node[i]] >= 0;
		if (whole)
			count[bounds->home[node[i]]]++;
	}
	for (int h = 0; h < bounds->n_homes && whole; h++)
		whole = count[h] % bounds->wish == 0;
	free(count);
	return whole;
}

int cpl_bounds_grant(const struct cpl_placement_request *req, int *out,
                     struct cpl_error *err)
{
	struct wish w = {.req = req, .b = req->bounds};
	int rc = 1;

	if (cpl_bounds_granted(w.b, out, req->n_nodes_wanted))
		return 0;
	if (!list_nodes(&w, out) && share_out(&w)) {
		take_nodes(&w, out);
		rc = 0;
	}
	return cpl_arena_end(&w.arena, rc, err);
}
