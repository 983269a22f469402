/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"

int cpl_near_table(const struct cpl_bind_request *req,
                   const struct cpl_slots *slots, unsigned char **out,
                   struct cpl_error *err)
{
	int ranks = req->comm->ranks;
	size_t n_slots = (size_t)slots->tree.n_slots;
	bool any = false;

	*out = NULL;
	for (int r = 0; req->near && r < ranks; r++)
		any |= req->near[r] != NULL;
	if (!any)
		return 0;
	*out = malloc((size_t)ranks * n_slots);
	if (!*out)
		return cpl_fail_memory(err);
	for (int r = 0; r < ranks; r++)
		for (size_t s = 0; s < n_slots; s++)
			(*out)[(size_t)r * n_slots + s] =
			        !req->near[r] ||
			        hwloc_bitmap_intersects(slots->cpuset[s],
			                                req->near[r]);
	return 0;
}

struct near_repair {
	const struct cpl_tree *tree;
	const unsigned char *table;
	int *slot;            /* [ranks], -1: none yet */
	int *who;             /* [n_slots], -1: free */
	unsigned char *tried; /* [n_slots] seen in this search */
	int *queue, *from;    /* slots in the order of the search */
};

/* Finds a shortest augmenting path from rank to a free slot, with slots near
 * `origin` first; from[s] is the rank that wants slot s. */
static int augment(struct near_repair *r, int rank, int origin)
{
	const struct cpl_tree *tree = r->tree;
	int head = 0, tail = 0;

	memset(r->tried, 0, (size_t)tree->n_slots);
	for (int seeker = rank, near = origin;;) {
		const unsigned char *may =
		        r->table + (size_t)seeker * tree->n_slots;

		for (int d = 0; d <= 2 * tree->n_levels; d += 2)
			for (int s = 0; s < tree->n_slots; s++) {
				if (r->tried[s] || !may[s] ||
				    cpl_tree_distance(tree, near, s) != d)
					continue;
				r->tried[s] = 1;
				r->from[s] = seeker;
				r->queue[tail++] = s;
			}
		for (; head < tail; head++) {
			int s = r->queue[head];

			if (r->who[s] >= 0)
				break;
			for (int taker = r->from[s], next;; s = next) {
				taker = r->from[s];
				next = r->slot[taker];
				r->slot[taker] = s;
				r->who[s] = taker;
				if (taker == rank)
					return 1;
			}
		}
		if (head == tail)
			return 0;
		near = r->queue[head++];
		seeker = r->who[near];
	}
}

int cpl_near_repair(const struct cpl_tree *tree, int ranks,
                    const unsigned char *table, int *slot,
                    struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int *origin = cpl_arena_take(&arena, ranks, sizeof(*origin)), far = 0;
	struct near_repair r = {
	        .tree = tree,
	        .table = table,
	        .slot = slot,
	        .who = cpl_arena_take(&arena, tree->n_slots, sizeof(int)),
	        .tried = cpl_arena_take(&arena, tree->n_slots, 1),
	        .queue = cpl_arena_take(&arena, tree->n_slots, sizeof(int)),
	        .from = cpl_arena_take(&arena, tree->n_slots, sizeof(int)),
	};

	if (!table || arena.failed)
		return cpl_arena_end(&arena, 0, err);
	for (int s = 0; s < tree->n_slots; s++)
		r.who[s] = -1;
	for (int i = 0; i < ranks; i++) {
		origin[i] = slot[i];
		if (table[(size_t)i * tree->n_slots + slot[i]])
			r.who[slot[i]] = i;
		else
			slot[i] = -1;
	}
	for (int i = 0; i < ranks; i++)
		if (slot[i] < 0)
			augment(&r, i, origin[i]);
	for (int i = 0; i < ranks; i++) {
		int best = -1, least = 0;

		if (slot[i] >= 0)
			continue;
		far++;
		for (int s = 0; s < tree->n_slots; s++) {
			int d = cpl_tree_distance(tree, origin[i], s);

			if (r.who[s] < 0 && (best < 0 || d < least)) {
				best = s;
				least = d;
			}
		}
		slot[i] = best;
		r.who[best] = i;
	}
	return cpl_arena_end(&arena, far, err);
}
