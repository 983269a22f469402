/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "graph/arena.h"
#include "mapping/rank_boxes.h"
#include "traffic/objective.h"

#define MAX_DIMS 5
/* The limits of shapes tried and of entries looked at for them: some 5 ms. */
#define TRIED 8
#define WORK 2000000
/* This share of the traffic may be outside of the pattern. */
#define STRAY 0.05

/* The grid, with rank = sum of coordinate * stride. */
struct rank_grid {
	int ranks, n_dims;
	int length[MAX_DIMS], stride[MAX_DIMS];
	double bytes[MAX_DIMS]; /* over a stride, both ways, of all ranks */
};

struct box_shape {
	int side[MAX_DIMS];
	double surface; /* about what leaves such boxes */
};

struct boxes {
	const struct cpl_comm *comm;
	const int *size;
	int n;
	struct rank_grid grid;
	struct box_shape best[TRIED]; /* by surface */
	int n_best, most;
	int *box;   /* [ranks] */
	int *first; /* [ranks + 1] of a box */
	int *of;    /* [ranks] the groups being tried */
	double *sums;
};

struct cpl_group_cut cpl_group_cut(const struct cpl_comm *comm, const int *of,
                                   int n, double *sums)
{
	struct cpl_group_cut cut = {0};
	double *in = sums, *out = sums + n;

	memset(sums, 0, 2 * (size_t)n * sizeof(*sums));
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int to = of[comm->to[e]];

			if (to == of[r])
				continue;
			out[of[r]] += comm->bytes[e];
			in[to] += comm->bytes[e];
		}
	for (int i = 0; i < n; i++) {
		cut.all += out[i];
		cut.most = fmax(cut.most, fmax(in[i], out[i]));
	}
	return cut;
}

bool cpl_group_cut_better(const struct cpl_group_cut *a,
                          const struct cpl_group_cut *b)
{
	int order = cpl_objective_compare(a->most, b->most);

	return order ? order < 0 : cpl_objective_compare(a->all, b->all) < 0;
}

/* Does the distance fit into the strides, so that each divides the next? */
static bool fits(const struct rank_grid *grid, int distance)
{
	if (grid->ranks % distance)
		return false;
	for (int i = 0; i < grid->n_dims; i++) {
		int stride = grid->stride[i];

		if (stride == distance ||
		    (stride > distance ? stride % distance : distance % stride))
			return false;
	}
	return true;
}

/* Strides are kept in ascending order. */
static void add_stride(struct rank_grid *grid, int stride, double bytes)
{
	int at = grid->n_dims++;

	for (; at > 0 && grid->stride[at - 1] > stride; at--) {
		grid->stride[at] = grid->stride[at - 1];
		grid->bytes[at] = grid->bytes[at - 1];
	}
	grid->stride[at] = stride;
	grid->bytes[at] = bytes;
}

/* Takes the distances of most bytes that fit, ties to the shortest. Distances
 * around the end of a dimension never fit. over: [ranks], all 0. */
static void find_grid(const struct cpl_comm *graph, double *over,
                      struct rank_grid *grid)
{
	int n = graph->ranks;

	*grid = (struct rank_grid){.ranks = n};
	for (int r = 0; r < n; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (graph->to[e] > r)
				over[graph->to[e] - r] += graph->bytes[e];
	while (grid->n_dims < MAX_DIMS) {
		int best = 0;

		for (int d = 1; d < n; d++)
			if (over[d] > over[best] && fits(grid, d))
				best = d;
		if (!best)
			break;
		add_stride(grid, best, over[best]);
	}
	if (!grid->n_dims)
		return;
	/* Ranks that are side by side send each other nothing. */
	if (grid->stride[0] > 1 && grid->n_dims < MAX_DIMS)
		add_stride(grid, 1, 0);
	for (int i = 0; i < grid->n_dims; i++)
		grid->length[i] = (i + 1 < grid->n_dims ? grid->stride[i + 1]
		                                        : n) /
		                  grid->stride[i];
}

/* Keeps the shape if it is one of the best so far, ties to the first. */
static void note(struct boxes *b, const struct box_shape *shape)
{
	int at = b->n_best;

	if (at == b->most &&
	    cpl_objective_compare(shape->surface, b->best[at - 1].surface) >= 0)
		return;
	if (at == b->most)
		at--;
	else
		b->n_best++;
	for (; at > 0 && cpl_objective_compare(shape->surface,
	                                       b->best[at - 1].surface) < 0;
	     at--)
		b->best[at] = b->best[at - 1];
	b->best[at] = *shape;
}

/* Lists all shapes of `volume` ranks in the dimensions from dim on. */
static void list_shapes(struct boxes *b, struct box_shape *shape, int dim,
                        int volume)
{
	const struct rank_grid *grid = &b->grid;
	double before = shape->surface;

	if (dim == grid->n_dims) {
		if (volume == 1)
			note(b, shape);
		return;
	}
	for (int side = 1; side <= volume && side <= grid->length[dim];
	     side++) {
		if (volume % side)
			continue;
		shape->side[dim] = side;
		shape->surface = before;
		if (side < grid->length[dim])
			shape->surface += grid->bytes[dim] / side;
		list_shapes(b, shape, dim + 1, volume / side);
	}
	shape->surface = before;
}

/* Gives out ranks box by box, within a box in their own order. */
static void fill(struct boxes *b, const struct box_shape *shape)
{
	const struct rank_grid *grid = &b->grid;
	int group = 0, left = b->size[0];

	memset(b->first, 0, ((size_t)grid->ranks + 1) * sizeof(*b->first));
	for (int r = 0; r < grid->ranks; r++) {
		int box = 0;

		for (int i = grid->n_dims - 1; i >= 0; i--) {
			int side = shape->side[i], length = grid->length[i];

			box = box * ((length + side - 1) / side) +
			      r / grid->stride[i] % length / side;
		}
		b->box[r] = box;
		b->first[box + 1]++;
	}
	for (int i = 0; i < grid->ranks; i++)
		b->first[i + 1] += b->first[i];
	/* In this loop of[] is the rank in a position, not a group. */
	for (int r = 0; r < grid->ranks; r++)
		b->of[b->first[b->box[r]]++] = r;
	for (int i = 0; i < grid->ranks; i++, left--) {
		while (!left)
			left = b->size[++group];
		b->box[b->of[i]] = group;
	}
	memcpy(b->of, b->box, (size_t)grid->ranks * sizeof(*b->of));
}

static void try_shapes(struct boxes *b, int *of, struct cpl_group_cut *cut)
{
	for (int i = 0; i < b->n_best; i++) {
		struct cpl_group_cut now;

		fill(b, &b->best[i]);
		now = cpl_group_cut(b->comm, b->of, b->n, b->sums);
		if (i && !cpl_group_cut_better(&now, cut))
			continue;
		*cut = now;
		memcpy(of, b->of, (size_t)b->grid.ranks * sizeof(*of));
	}
}

int cpl_rank_boxes(const struct cpl_comm *comm, const struct cpl_comm *graph,
                   const int *size, int n, int *of, struct cpl_group_cut *cut,
                   struct cpl_error *err)
{
	struct boxes b = {.comm = comm, .size = size, .n = n};
	struct cpl_arena arena = {0};
	struct box_shape shape = {0};
	double *over;
	int rc = -1;

	b.most = WORK / (comm->n_entries + 1) < TRIED
	                 ? (int)(WORK / (comm->n_entries + 1))
	                 : TRIED;
	if (!b.most)
		return 0;
	over = cpl_arena_take(&arena, comm->ranks, sizeof(*over));
	b.box = cpl_arena_take_raw(&arena, comm->ranks, sizeof(*b.box));
	b.of = cpl_arena_take_raw(&arena, comm->ranks, sizeof(*b.of));
	b.first = cpl_arena_take_raw(&arena, (int64_t)comm->ranks + 1,
	                             sizeof(*b.first));
	b.sums = cpl_arena_take_raw(&arena, 2 * (int64_t)n, sizeof(*b.sums));
	if (arena.failed)
		goto out;
	find_grid(graph, over, &b.grid);
	if (b.grid.n_dims)
		list_shapes(&b, &shape, 0, size[0]);
	try_shapes(&b, of, cut);
	rc = b.n_best > 0;
out:
	return cpl_arena_end(&arena, rc, err);
}

/* Adds up bytes over each distance between rank numbers; returns their sum. */
static double sum_distances(const struct cpl_comm *graph, double *over)
{
	double all = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (graph->to[e] > r) {
				over[graph->to[e] - r] += graph->bytes[e];
				all += graph->bytes[e];
			}
	return all;
}

/* Are ranks rows of that length that send inside rows and columns only? */
static bool is_row(const double *over, int ranks, int length, double all)
{
	double column = 0, beyond = 0;

	if (ranks % length)
		return false;
	for (int d = length; d < ranks; d++)
		*(d % length ? &beyond : &column) += over[d];
	return beyond <= STRAY * all && column > STRAY * all;
}

int cpl_rank_columns(const struct cpl_comm *graph, const int *size, int n,
                     int *of, struct cpl_error *err)
{
	int ranks = graph->ranks, row = 2, group = 0, left = n ? size[0] : 0;
	struct cpl_arena arena = {0};
	double *over = cpl_arena_take(&arena, ranks, sizeof(*over)), all;

	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	all = sum_distances(graph, over);
	while (2 * row <= ranks && !is_row(over, ranks, row, all))
		row++;
	cpl_arena_free(&arena);
	if (2 * row > ranks)
		return 0;
	for (int i = 0; i < ranks; i++, left--) {
		while (!left)
			left = size[++group];
		of[i % (ranks / row) * row + i / (ranks / row)] = group;
	}
	return 1;
}
