/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "graph/heap.h"
#include "mapping/best/best.h"

#define MAX_DIMS 4
/* A cell has at most this many neighbours. */
#define MAX_SIDES (2 * MAX_DIMS)
/* A shape is given up after this many cells tried per rank. */
#define TRIES 100
/* The budget is looked at once in this many rows of common neighbours. */
#define CHECK_EVERY 16
/* Shares of the heaviest edge, and of the most common neighbours. */
#define HEAVY 0.5
#define COMMON 0.75

/* Its graph has the heavy edges only. */
struct grid_finder {
	int n;
	int *row;        /* [n + 1] */
	int *to;         /* [row[n]] */
	int *order;      /* [n] each rank but the first after a neighbour */
	int *anchor;     /* [n] that neighbour of order[i] */
	int *next;       /* [n] next side of the anchor's cell to try */
	int *at;         /* [n] rank in a cell, or -1 */
	int *count;      /* [n] 0 between uses */
	int *cell_count; /* [n] 0 between uses */
	double *key;     /* [n] */
	struct cpl_grid *grid;
	const struct cpl_map_request *req;
};

/* Counts the neighbours that `other` shares with a rank, whose have count 1. */
static int common(const struct grid_finder *f, const struct cpl_comm *graph,
                  int other)
{
	int sum = 0;

	for (int64_t e = graph->row[other]; e < graph->row[other + 1]; e++)
		sum += f->count[graph->to[e]];
	return sum;
}

/* Keeps edges of many bytes or common neighbours. False: the budget ended. */
static bool keep_heavy(struct grid_finder *f, const struct cpl_comm *graph,
                       bool by_common)
{
	double most = 0;
	int used = 0;

	for (int round = 0; round < 2; round++) {
		for (int r = 0; r < f->n; r++) {
			int64_t low = graph->row[r], high = graph->row[r + 1];

			if (by_common && r % CHECK_EVERY == 0 &&
			    cpl_map_expired(f->req))
				return false;
			if (round)
				f->row[r] = used;
			for (int64_t e = low; e < high && by_common; e++)
				f->count[graph->to[e]] = 1;
			for (int64_t e = low; e < high; e++) {
				double x = by_common ? common(f, graph,
				                              graph->to[e])
				                     : graph->bytes[e];

				if (!round && x > most)
					most = x;
				if (round && x > 0 &&
				    x >= most * (by_common ? COMMON : HEAVY))
					f->to[used++] = graph->to[e];
			}
			for (int64_t e = low; e < high; e++)
				f->count[graph->to[e]] = 0;
		}
	}
	f->row[f->n] = used;
	return true;
}

/* Orders ranks so that each has as many neighbours before it as can be. False:
 * they are not connected, or have more neighbours than in a grid. */
static bool make_order(struct grid_finder *f)
{
	struct cpl_heap heap;
	int start = 0, n = 0;

	for (int r = 0; r < f->n; r++) {
		int degree = f->row[r + 1] - f->row[r];

		if (degree > MAX_SIDES || degree == 0)
			return false;
		if (degree < f->row[start + 1] - f->row[start])
			start = r;
		f->key[r] = 0;
		f->anchor[r] = -1;
	}
	if (cpl_heap_init(&heap, f->n, f->key, NULL))
		return false;
	memset(f->next, -1, (size_t)f->n * sizeof(int));
	cpl_heap_push(&heap, start);
	while (heap.n) {
		int r = heap.item[0];

		cpl_heap_remove(&heap, r);
		f->key[r] = -1;
		f->anchor[n] = f->next[r];
		f->order[n++] = r;
		for (int e = f->row[r]; e < f->row[r + 1]; e++) {
			int u = f->to[e];

			if (f->key[u] < 0)
				continue;
			f->key[u]++;
			if (cpl_heap_has(&heap, u)) {
				cpl_heap_update(&heap, u);
				continue;
			}
			f->next[u] = r;
			cpl_heap_push(&heap, u);
		}
	}
	cpl_heap_free(&heap);
	return n == f->n;
}

static int sides(const struct cpl_grid *g, int cell, int *out)
{
	int n = 0, stride = 1;

	for (int d = 0; d < g->n_dims; d++) {
		int length = g->dim[d], x = cell / stride % length;
		bool wrap = g->wrap && length > 2;

		if (x + 1 < length || wrap)
			out[n++] = cell + ((x + 1) % length - x) * stride;
		if (x > 0 || wrap)
			out[n++] =
			        cell + ((x + length - 1) % length - x) * stride;
		stride *= length;
	}
	return n;
}

/* Are ranks two steps from `rank` reached in as many ways as their cells? */
static bool same_corners(struct grid_finder *f, int rank, int cell)
{
	int side[MAX_SIDES], far[MAX_SIDES], n = sides(f->grid, cell, side);
	const int *cell_of = f->grid->cell;
	bool same = true;

	for (int e = f->row[rank]; e < f->row[rank + 1]; e++)
		for (int k = f->row[f->to[e]]; k < f->row[f->to[e] + 1]; k++)
			f->count[f->to[k]]++;
	for (int i = 0; i < n; i++)
		for (int k = sides(f->grid, side[i], far) - 1; k >= 0; k--)
			f->cell_count[far[k]]++;
	for (int e = f->row[rank]; e < f->row[rank + 1]; e++)
		for (int k = f->row[f->to[e]]; k < f->row[f->to[e] + 1]; k++) {
			int u = f->to[k];

			if (cell_of[u] >= 0 &&
			    f->cell_count[cell_of[u]] != f->count[u])
				same = false;
		}
	for (int i = 0; i < n; i++)
		for (int k = sides(f->grid, side[i], far) - 1; k >= 0; k--) {
			int u = f->at[far[k]];

			if (u >= 0 && f->cell_count[far[k]] != f->count[u])
				same = false;
		}
	for (int e = f->row[rank]; e < f->row[rank + 1]; e++)
		for (int k = f->row[f->to[e]]; k < f->row[f->to[e] + 1]; k++)
			f->count[f->to[k]] = 0;
	for (int i = 0; i < n; i++)
		for (int k = sides(f->grid, side[i], far) - 1; k >= 0; k--)
			f->cell_count[far[k]] = 0;
	return same;
}

/* Are the neighbours placed so far on the sides of the cell, and no others? */
static bool fits(struct grid_finder *f, int rank, int cell)
{
	int side[MAX_SIDES], n = sides(f->grid, cell, side);
	int balance = 0;

	if (f->at[cell] >= 0 || n != f->row[rank + 1] - f->row[rank])
		return false;
	for (int i = 0; i < n; i++)
		balance += f->at[side[i]] >= 0;
	for (int e = f->row[rank]; e < f->row[rank + 1]; e++) {
		int there = f->grid->cell[f->to[e]], i = 0;

		if (there < 0)
			continue;
		while (i < n && side[i] != there)
			i++;
		if (i == n)
			return false;
		balance--;
	}
	return balance == 0 && same_corners(f, rank, cell);
}

static bool isomorphic(struct grid_finder *f)
{
	int *cell_of = f->grid->cell;
	int64_t tries = (int64_t)TRIES * f->n + 1000;
	int depth = 1;

	for (int r = 0; r < f->n; r++)
		f->at[r] = cell_of[r] = -1;
	if (!fits(f, f->order[0], 0))
		return false;
	cell_of[f->order[0]] = 0;
	f->at[0] = f->order[0];
	if (f->n > 1)
		f->next[1] = 0;
	while (depth < f->n) {
		int rank = f->order[depth], side[MAX_SIDES];
		int n = sides(f->grid, cell_of[f->anchor[depth]], side);
		bool placed = false;

		while (f->next[depth] < n && !placed) {
			int cell = side[f->next[depth]++];

			if (--tries < 0)
				return false;
			if (!fits(f, rank, cell))
				continue;
			cell_of[rank] = cell;
			f->at[cell] = rank;
			placed = true;
		}
		if (placed) {
			if (++depth < f->n)
				f->next[depth] = 0;
			continue;
		}
		if (--depth < 1)
			return false;
		f->at[cell_of[f->order[depth]]] = -1;
		cell_of[f->order[depth]] = -1;
	}
	return true;
}

/* Counts the edges of the shape in both directions. */
static int64_t edges_of(const struct cpl_grid *g, int n)
{
	int64_t sum = 0;

	for (int d = 0; d < g->n_dims; d++)
		sum += g->wrap && g->dim[d] > 2
		               ? 2 * (int64_t)n
		               : 2 * (int64_t)(n / g->dim[d]) * (g->dim[d] - 1);
	return sum;
}

/* Tries all shapes of `left` cells in dimensions of at most `longest`. */
static bool try_shapes(struct grid_finder *f, int left, int longest)
{
	struct cpl_grid *g = f->grid;

	if (left == 1) {
		for (int wrap = 1; wrap >= 0; wrap--) {
			g->wrap = wrap;
			if (edges_of(g, f->n) == f->row[f->n] && isomorphic(f))
				return true;
		}
		return false;
	}
	if (g->n_dims == MAX_DIMS)
		return false;
	for (int d = left < longest ? left : longest; d > 1; d--) {
		if (left % d)
			continue;
		g->dim[g->n_dims++] = d;
		if (try_shapes(f, left / d, d))
			return true;
		g->n_dims--;
	}
	return false;
}

int cpl_map_find_grid(const struct cpl_map_request *req,
                      const struct cpl_comm *graph, struct cpl_grid *grid,
                      struct cpl_error *err)
{
	int n = graph->ranks;
	bool found = false;
	struct cpl_arena arena = {0};
	struct grid_finder f;

	*grid = (struct cpl_grid){0};
	if (n < 4 || graph->n_entries > INT32_MAX)
		return 0;
	f = (struct grid_finder){
	        .n = n,
	        .row = cpl_arena_take(&arena, n + 1, sizeof(int)),
	        .to = cpl_arena_take(&arena, graph->n_entries, sizeof(int)),
	        .order = cpl_arena_take(&arena, n, sizeof(int)),
	        .anchor = cpl_arena_take(&arena, n, sizeof(int)),
	        .next = cpl_arena_take(&arena, n, sizeof(int)),
	        .at = cpl_arena_take(&arena, n, sizeof(int)),
	        .count = cpl_arena_take(&arena, n, sizeof(int)),
	        .cell_count = cpl_arena_take(&arena, n, sizeof(int)),
	        .key = cpl_arena_take(&arena, n, sizeof(double)),
	        .grid = grid,
	        .req = req,
	};
	grid->cell = malloc((size_t)n * sizeof(int));
	if (!grid->cell)
		arena.failed = true;
	for (int by_common = 0; by_common < 2 && !found && !arena.failed;
	     by_common++) {
		grid->n_dims = 0;
		found = keep_heavy(&f, graph, by_common) && make_order(&f) &&
		        try_shapes(&f, n, n);
	}
	if (!found)
		free(grid->cell);
	return cpl_arena_end(&arena, found, err);
}
