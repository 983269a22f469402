/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/tree.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/random.h"
#include "base/sort.h"

struct split {
	int feature; /* -1: none */
	double at, gain;
};

struct grower {
	const struct cpl_learn_tree_task *task;
	struct cpl_learn_tree *tree;
	struct pair {
		double x, y;
	} *pair; /* [n] of a node */
	uint64_t drawn;
	struct cpl_error *err;
};

static double x_of(const struct grower *g, int row, int feature)
{
	return g->task->x[(int64_t)row * g->task->n_features + feature];
}

static CPL_SORT_BY(by_x, struct pair, CPL_UP(x), CPL_UP(y))

/* This is how much smaller the squares of two parts' distances from their means
 * are. */
static double gain_of(double sum, double n, double all, double total)
{
	double other = all - sum, rest = total - n;

	return sum * sum / n + other * other / rest - all * all / total;
}

/* This finds the best split of a feature between two different values. */
static void best_split(struct grower *g, const int *row, int n, int feature,
                       double all, struct split *best)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		g->pair[i] = (struct pair){x_of(g, row[i], feature),
		                           g->task->y[row[i]]};
	qsort(g->pair, (size_t)n, sizeof(*g->pair), by_x);
	for (int i = 0; i + 1 < n; i++) {
		double gain, at;

		sum += g->pair[i].y;
		if (g->pair[i].x == g->pair[i + 1].x)
			continue;
		gain = gain_of(sum, i + 1, all, n);
		at = g->pair[i].x + (g->pair[i + 1].x - g->pair[i].x) / 2;
		if (gain > best->gain)
			*best = (struct split){
			        feature,
			        at < g->pair[i + 1].x ? at : g->pair[i].x,
			        gain};
	}
}

/* This draws a split between the least and the largest value. */
static void random_split(struct grower *g, const int *row, int n, int feature,
                         double all, struct split *best)
{
	double low = x_of(g, row[0], feature), high = low, sum = 0, at, gain;
	int below = 0;

	for (int i = 1; i < n; i++) {
		double x = x_of(g, row[i], feature);

		low = x < low ? x : low;
		high = x > high ? x : high;
	}
	if (!(high > low))
		return;
	at = low + (high - low) *
	                   ((double)(cpl_random(g->task->seed, 1, g->drawn++) >>
	                             11) *
	                    0x1p-53);
	at = at < high ? at : low;
	for (int i = 0; i < n; i++)
		if (x_of(g, row[i], feature) <= at) {
			sum += g->task->y[row[i]];
			below++;
		}
	gain = gain_of(sum, below, all, n);
	if (gain > best->gain)
		*best = (struct split){feature, at, gain};
}

static struct split find_split(struct grower *g, const int *row, int n)
{
	struct split best = {.feature = -1};
	double all = 0;

	for (int i = 0; i < n; i++)
		all += g->task->y[row[i]];
	for (int f = 0; f < g->task->n_features; f++)
		if (g->task->random)
			random_split(g, row, n, f, all, &best);
		else
			best_split(g, row, n, f, all, &best);
	return best;
}

/* This moves rows at or below the split to the front, in their order, and returns
 * how many there are. */
static int divide(struct grower *g, int *row, int n, const struct split *s)
{
	int below = 0, above = 0;

	for (int i = 0; i < n; i++)
		if (x_of(g, row[i], s->feature) <= s->at)
			row[below++] = row[i];
		else
			g->pair[above++].x = row[i];
	for (int i = 0; i < above; i++)
		row[below + i] = (int)g->pair[i].x;
	return below;
}

static double leaf_of(const struct grower *g, const int *row, int n)
{
	double sum = 0;

	if (g->task->leaf)
		return g->task->leaf(g->task->arg, row, n);
	for (int i = 0; i < n; i++)
		sum += g->task->y[row[i]];
	return sum / n;
}

/* This grows the node of these rows and all below it. */
static int grow(struct grower *g, int *row, int n, int depth)
{
	struct cpl_learn_tree *tree = g->tree;
	struct split s = {.feature = -1};
	int at = tree->n, below;

	if (cpl_array_grow(&tree->node, tree->n, sizeof(*tree->node), g->err))
		return -1;
	tree->n++;
	if (n >= g->task->least && depth > 0)
		s = find_split(g, row, n);
	if (s.feature < 0) {
		tree->node[at] =
		        (struct cpl_learn_tree_node){-1, 0, leaf_of(g, row, n)};
		return 0;
	}
	if (g->task->gain)
		g->task->gain[s.feature] += s.gain;
	below = divide(g, row, n, &s);
	if (grow(g, row, below, depth - 1))
		return -1;
	tree->node[at] = (struct cpl_learn_tree_node){s.feature, tree->n, s.at};
	return grow(g, row + below, n - below, depth - 1);
}

int cpl_learn_tree_grow(const struct cpl_learn_tree_task *task,
                        struct cpl_learn_tree *tree, struct cpl_error *err)
{
	struct grower g = {.task = task, .tree = tree, .err = err};
	int rc;

	*tree = (struct cpl_learn_tree){0};
	g.pair = malloc((size_t)task->n * sizeof(*g.pair));
	rc = g.pair ? grow(&g, task->row, task->n, task->depth)
	            : cpl_fail_memory(err);
	free(g.pair);
	return rc;
}

void cpl_learn_tree_free(struct cpl_learn_tree *tree)
{
	free(tree->node);
	*tree = (struct cpl_learn_tree){0};
}

double cpl_learn_tree_value(const struct cpl_learn_tree *tree, const double *x)
{
	int i = 0;

	while (tree->node[i].feature >= 0)
		i = x[tree->node[i].feature] > tree->node[i].value
		            ? tree->node[i].above
		            : i + 1;
	return tree->node[i].value;
}
