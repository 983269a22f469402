/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gradient boosted trees use Huber's loss (Friedman, Annals of Statistics 29, 2001,
 * algorithm 4): each small tree is grown to what the ones before leave, which
 * counts by its square up to the 90 % quantile and by its amount beyond. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "learn/learn.h"

#define DEPTH 4
#define LEAST 4
#define RATE 0.1
#define QUANTILE 0.9

struct boosting {
	double *rest;   /* [rows] y less what is told so far */
	double *bound;  /* [rows] the same, bounded by delta */
	double *sorted; /* [n] for quantiles */
	double delta;
};

static double median_of(double *sorted, int n)
{
	qsort(sorted, (size_t)n, sizeof(*sorted), cpl_by_double);
	return n % 2 ? sorted[n / 2]
	             : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* This is the paper's step from the median. */
static double leaf(void *arg, const int *row, int n)
{
	struct boosting *b = arg;
	double median, sum = 0;

	for (int i = 0; i < n; i++)
		b->sorted[i] = b->rest[row[i]];
	median = median_of(b->sorted, n);
	for (int i = 0; i < n; i++) {
		double d = b->rest[row[i]] - median;

		sum += copysign(fmin(b->delta, fabs(d)), d);
	}
	return median + sum / n;
}

static void bound(struct boosting *b, const struct cpl_learn_task *task)
{
	int at = (int)(QUANTILE * (task->n - 1));

	for (int i = 0; i < task->n; i++)
		b->sorted[i] = fabs(b->rest[task->row[i]]);
	qsort(b->sorted, (size_t)task->n, sizeof(*b->sorted), cpl_by_double);
	b->delta = b->sorted[at];
	for (int i = 0; i < task->n; i++) {
		int r = task->row[i];

		b->bound[r] = copysign(fmin(b->delta, fabs(b->rest[r])),
		                       b->rest[r]);
	}
}

static int add_tree(const struct cpl_learn_task *task, struct boosting *b,
                    int *row, struct cpl_model *model, struct cpl_error *err)
{
	struct cpl_learn_tree *tree = &model->tree[model->n_trees];
	struct cpl_learn_tree_task one = {.n = task->n,
	                            .n_features = task->n_features,
	                            .x = task->x,
	                            .y = b->bound,
	                            .row = row,
	                            .depth = DEPTH,
	                            .least = LEAST,
	                            .leaf = leaf,
	                            .arg = b,
	                            .gain = model->importance};

	bound(b, task);
	memcpy(row, task->row, (size_t)task->n * sizeof(*row));
	model->n_trees++;
	if (cpl_learn_tree_grow(&one, tree, err))
		return -1;
	for (int i = 0; i < task->n; i++) {
		int r = task->row[i];

		b->rest[r] -= RATE * cpl_learn_tree_value(tree,
		                                    task->x + (int64_t)r *
		                                              task->n_features);
	}
	return 0;
}

static int grow(const struct cpl_learn_task *task, struct cpl_model *model,
                struct cpl_error *err)
{
	struct boosting b = {0};
	int *row = malloc((size_t)task->n * sizeof(*row)), last = 0, rc = -1;

	for (int i = 0; i < task->n; i++)
		last = task->row[i] > last ? task->row[i] : last;
	b.rest = malloc(((size_t)last + 1) * sizeof(double));
	b.bound = malloc(((size_t)last + 1) * sizeof(double));
	b.sorted = malloc((size_t)task->n * sizeof(double));
	model->tree = calloc((size_t)task->trees, sizeof(*model->tree));
	if (cpl_out_of_memory(!row || !b.rest || !b.bound || !b.sorted ||
	                      !model->tree, err))
		goto out;
	for (int i = 0; i < task->n; i++)
		b.sorted[i] = task->y[task->row[i]];
	model->base = median_of(b.sorted, task->n);
	model->rate = RATE;
	for (int i = 0; i < task->n; i++)
		b.rest[task->row[i]] = task->y[task->row[i]] - model->base;
	rc = 0;
	while (!rc && model->n_trees < task->trees)
		rc = add_tree(task, &b, row, model, err);
out:
	cpl_free_all(row, b.rest, b.bound, b.sorted);
	return rc;
}

const struct cpl_learner cpl_learn_boosted = {
        .name = "boosted",
        .summary = "small trees, each of what those before leave",
        .trees = 300,
        .grow = grow,
};
