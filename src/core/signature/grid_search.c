/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/grid_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "signature/grid_lengths.h"

/* So many entries or rows are looked at for each grid that is tried. */
#define SAMPLE 20000
/* A short axis has to explain this part of the traffic, so that collectives beside
 * a halo do not make one. */
#define SHORT_AXIS 0.02

void grid_search_free(struct grid_search *x)
{
	cpl_free_all(x->sums.bytes, x->sums.messages, x->sums.code, x->near,
	             x->model);
}

int grid_search_init(struct grid_search *x, int ranks, struct cpl_error *err)
{
	x->sums.bytes = calloc((size_t)ranks, sizeof(double));
	x->sums.messages = calloc((size_t)ranks, sizeof(double));
	x->sums.code = malloc((size_t)ranks * sizeof(int));
	x->near = calloc((size_t)ranks, sizeof(double));
	x->model = malloc(sizeof(*x->model));
	return x->sums.bytes && x->sums.messages && x->sums.code && x->near &&
	                       x->model
	               ? 0
	               : cpl_fail_memory(err);
}

/* This is the cost of one more grid while its neighbours are not known. */
static double least_steps(const struct grid_sample *s, double entries,
                          int n_axes)
{
	double offsets = 1;

	for (int a = 0; a < n_axes; a++)
		offsets *= 2 * RESCALE_REACH + 1;
	return 2 * (entries + s->n) + offsets;
}

/* A grid is scored by its error, and by how many of its axes are so short that
 * their neighbours look like those of a longer axis (a ring of four is a square). */
static double score(const struct grid *g, double error)
{
	for (int a = 0; a < g->n_dims && g->n_dims > 1; a++)
		if (g->dim[a] < RESCALE_MIN_AXIS)
			error += SHORT_AXIS;
	return error;
}

/* Grids are tried with these rows. */
static struct grid_sample take_sample(const struct cpl_comm *comm)
{
	struct grid_sample s = {comm, comm->ranks};

	if (comm->n_entries > SAMPLE) {
		s.n = (int)(comm->ranks * (double)SAMPLE / comm->n_entries);
		s.n = s.n < 64 ? 64 : s.n;
	}
	/* A rank that hardly talks still has a row. */
	s.n = s.n > SAMPLE ? SAMPLE : s.n;
	s.n = s.n > comm->ranks ? comm->ranks : s.n;
	return s;
}

/* This keeps the grid in the model if it is the best so far. It returns -1 when
 * memory is out. */
static int try_grid(struct grid_search *x, const struct grid_sample *s,
                    struct grid *best, double *least, double *error)
{
	double apart = 0, both = 0, all;

	if (grid_model_find(x->model, s, &x->sums))
		return -1;
	grid_model_compare(x->model, s, x->near, 1, &apart, &both);
	x->steps += 2.0 * x->model->n_near * x->sums.n_classes;
	all = both > 0 ? score(&x->model->grid, apart / both) : INFINITY;
	if (all < *least - 1e-9) {
		*least = all;
		*error = apart / both;
		*best = x->model->grid;
	}
	return 0;
}

int grid_search_find(struct grid_search *x, const struct cpl_comm *comm,
                     struct grid *best, struct cpl_error *err)
{
	struct grid_sample s = take_sample(comm);
	struct grid_lengths l;
	double least = INFINITY, error = INFINITY;
	double entries = grid_sample_entries(&s);

	best->n_dims = 0;
	if (grid_lengths_init(&l, comm->ranks))
		return cpl_fail_memory(err);
	for (int n = 1; n <= RESCALE_DIMS && error > 1e-9; n++) {
		double each = least_steps(&s, entries, n);
		double most = (RESCALE_MAX_STEPS - x->steps) / each;
		bool more;

		/* One grid of a single axis is looked at in any case. */
		if (n > 1 && grid_lengths_count(&l, n, most + 1) > most)
			break;
		more = grid_lengths_first(&l, n, 2);
		for (; more; more = grid_lengths_next(&l)) {
			x->model->grid = (struct grid){.n_dims = n};
			memcpy(x->model->grid.dim, l.length, sizeof(l.length));
			grid_set_strides(&x->model->grid);
			x->steps += each;
			if (try_grid(x, &s, best, &least, &error)) {
				grid_lengths_free(&l);
				return cpl_fail_memory(err);
			}
			if (x->steps > RESCALE_MAX_STEPS)
				break;
		}
		if (more)
			break;
		x->axes = n;
	}
	/* No other grid can be better than one without an error. */
	if (error <= 1e-9)
		x->axes = RESCALE_DIMS;
	grid_lengths_free(&l);
	return 0;
}
