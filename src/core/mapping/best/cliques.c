/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mapping/best/best.h"

#define MAX_DIMS 4
/* Pairs with less than this share of the heaviest are not looked at. */
#define HEAVY 0.05

/* Coordinates as in a product of complete graphs (a Hamming graph; Imrich and
 * Klavzar, "Product Graphs", 2000, recognise it from one corner). The
 * neighbours of a first rank fall into one clique for each dimension. A rank at
 * k steps from it shares with each of its k nearer neighbours all coordinates
 * but one, in which the neighbour has 0. */
struct clique_finder {
	const struct cpl_comm *graph;
	double least;       /* bytes of a pair that is looked at */
	int *step, *queue;  /* [ranks] steps from the first rank, -1: not met */
	int *at;            /* [ranks * MAX_DIMS] coordinates of ranks */
	double bytes[MAX_DIMS]; /* over the pairs along each dimension */
	struct cpl_grid *grid;
};

/* Numbers the cliques around the first rank. False: there are too many. */
static bool number_cliques(struct clique_finder *f)
{
	const struct cpl_comm *g = f->graph;
	struct cpl_grid *grid = f->grid;

	for (int64_t e = g->row[0]; e < g->row[1]; e++) {
		int v = g->to[e], d = grid->n_dims;

		if (g->bytes[e] < f->least || f->step[v] >= 0)
			continue;
		if (d == MAX_DIMS)
			return false;
		f->step[v] = 1;
		f->at[v * MAX_DIMS + d] = 1;
		grid->dim[d] = 2;
		/* Both rows are in ascending order. */
		for (int64_t a = g->row[0], b = g->row[v];
		     a < g->row[1] && b < g->row[v + 1];) {
			int u = g->to[a], w = g->to[b];

			if (u == w && g->bytes[a] >= f->least &&
			    g->bytes[b] >= f->least && f->step[u] < 0) {
				f->step[u] = 1;
				f->at[u * MAX_DIMS + d] = grid->dim[d]++;
			}
			a += u <= w;
			b += w <= u;
		}
		grid->n_dims++;
	}
	return grid->n_dims > 1;
}

/* Numbers the other ranks from there on. */
static void number_others(struct clique_finder *f)
{
	const struct cpl_comm *g = f->graph;
	int n = 0;

	for (int r = 0; r < g->ranks; r++)
		if (f->step[r] == 1)
			f->queue[n++] = r;
	for (int i = 0; i < n; i++) {
		int u = f->queue[i];

		for (int64_t e = g->row[u]; e < g->row[u + 1]; e++) {
			int w = g->to[e];

			if (g->bytes[e] < f->least)
				continue;
			if (f->step[w] < 0) {
				f->step[w] = f->step[u] + 1;
				f->queue[n++] = w;
			}
			if (f->step[w] != f->step[u] + 1)
				continue;
			for (int d = 0; d < MAX_DIMS; d++) {
				int *x = &f->at[w * MAX_DIMS + d];
				int y = f->at[u * MAX_DIMS + d];

				*x = *x > y ? *x : y;
			}
		}
	}
}

/* Do pairs differ in one coordinate, and has each rank all such partners? */
static bool check(struct clique_finder *f)
{
	const struct cpl_comm *g = f->graph;
	const struct cpl_grid *grid = f->grid;
	int degree = 0;

	for (int d = 0; d < grid->n_dims; d++)
		degree += grid->dim[d] - 1;
	for (int r = 0; r < g->ranks; r++) {
		int n = 0;

		for (int64_t e = g->row[r]; e < g->row[r + 1]; e++) {
			int differ = 0, along = 0;

			if (g->bytes[e] < f->least)
				continue;
			for (int d = 0; d < grid->n_dims; d++)
				if (f->at[r * MAX_DIMS + d] !=
				    f->at[g->to[e] * MAX_DIMS + d]) {
					differ++;
					along = d;
				}
			if (differ != 1)
				return false;
			f->bytes[along] += g->bytes[e];
			n++;
		}
		if (n != degree)
			return false;
	}
	return true;
}

/* Makes cells, the dimension of most bytes fastest. False: ranks share one. */
static bool make_cells(struct clique_finder *f)
{
	struct cpl_grid *grid = f->grid;
	int order[MAX_DIMS], length[MAX_DIMS], n = grid->n_dims;

	for (int d = 0; d < n; d++) {
		int i = d;

		for (; i > 0 && f->bytes[order[i - 1]] < f->bytes[d]; i--)
			order[i] = order[i - 1];
		order[i] = d;
	}
	memcpy(length, grid->dim, sizeof(length));
	memset(f->queue, 0, (size_t)f->graph->ranks * sizeof(*f->queue));
	for (int r = 0; r < f->graph->ranks; r++) {
		int cell = 0;

		for (int i = n - 1; i >= 0; i--)
			cell = cell * length[order[i]] +
			       f->at[r * MAX_DIMS + order[i]];
		if (f->queue[cell]++)
			return false;
		grid->cell[r] = cell;
	}
	for (int i = 0; i < n; i++)
		grid->dim[i] = length[order[i]];
	return true;
}

static bool find(struct clique_finder *f)
{
	const struct cpl_comm *g = f->graph;
	int64_t cells = 1;

	for (int64_t e = 0; e < g->n_entries; e++)
		if (g->bytes[e] * HEAVY > f->least)
			f->least = g->bytes[e] * HEAVY;
	memset(f->step, -1, (size_t)g->ranks * sizeof(*f->step));
	f->step[0] = 0;
	if (!number_cliques(f))
		return false;
	for (int d = 0; d < f->grid->n_dims && cells <= g->ranks; d++)
		cells *= f->grid->dim[d];
	if (cells != g->ranks)
		return false;
	number_others(f);
	return check(f) && make_cells(f);
}

int cpl_map_find_cliques(const struct cpl_comm *graph, struct cpl_grid *grid,
                         struct cpl_error *err)
{
	int n = graph->ranks;
	bool found = false;
	struct cpl_arena arena = {0};
	struct clique_finder f = {
	        .graph = graph,
	        .step = cpl_arena_take(&arena, n, sizeof(int)),
	        .queue = cpl_arena_take(&arena, n, sizeof(int)),
	        .at = cpl_arena_take(&arena, (int64_t)n * MAX_DIMS,
	                             sizeof(int)),
	        .grid = grid,
	};

	*grid = (struct cpl_grid){.cliques = true};
	if (n < 4)
		return cpl_arena_end(&arena, 0, err);
	grid->cell = malloc((size_t)n * sizeof(int));
	if (!grid->cell)
		arena.failed = true;
	if (!arena.failed)
		found = find(&f);
	if (!found) {
		free(grid->cell);
		grid->cell = NULL;
	}
	return cpl_arena_end(&arena, found, err);
}
