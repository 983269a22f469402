/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is the study's cost, and the choice that goes by it. */
#include <stdlib.h>
#include <string.h>

#include "campaign/stock.h"

const char *const cpl_study_pattern_name[CPL_STUDY_PATTERNS + 1] = {
        "rhvd", "rd", "binomial", "2-d", NULL};

/* These are the leaves of the ranks, and the loud nodes of each by that leaf. */
struct cost {
	const struct cpl_stock_tree *tree;
	const int *loud, *node;
	int *own; /* [n_leaves] nodes of the job that loud[] lacks, or NULL */
};

static double leaf_nodes(const struct cpl_stock_tree *tree, int leaf)
{
	return tree->first[leaf + 1] - tree->first[leaf];
}

static double pair(const struct cost *c, int a, int b)
{
	int i = c->tree->leaf_of[c->node[a]], j = c->tree->leaf_of[c->node[b]];
	double loud_i = c->loud[i] + (c->own ? c->own[i] : 0);
	double loud_j = c->loud[j] + (c->own ? c->own[j] : 0);
	double n_i = leaf_nodes(c->tree, i), n_j = leaf_nodes(c->tree, j);

	if (i == j)
		return 2 * (1 + loud_i / n_i);
	return 4 * (1 + loud_i / n_i + loud_j / n_j +
	            (loud_i + loud_j) / (n_i + n_j) / 2);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* The partners at one distance are all of them, or those of a tree. */
static double step(const struct cost *c, int n, int distance, bool tree)
{
	double most = 0;

	if (tree) {
		for (int i = 0; i + distance < n; i += 2 * distance)
			most = larger(most, pair(c, i, i + distance));
		return most;
	}
	for (int i = 0; i + distance < n; i++)
		if (!(i & distance))
			most = larger(most, pair(c, i, i + distance));
	return most;
}

static double sum(const struct cost *c, int n, bool tree, bool doubles)
{
	double total = 0, message = 1;
	int distance = 1;

	while (2 * distance < n)
		distance *= 2;
	for (; distance >= 1; distance /= 2) {
		total += message * step(c, n, distance, tree);
		message *= doubles ? 2 : 1;
	}
	return total;
}

static double cost_of(const struct cost *c, int n,
                      enum cpl_study_pattern pattern)
{
	if (n < 2)
		return 0;
	switch (pattern) {
	case CPL_STUDY_HALVING:
		return sum(c, n, false, true);
	case CPL_STUDY_DOUBLING:
		return sum(c, n, false, false);
	case CPL_STUDY_BINOMIAL:
		return sum(c, n, true, false);
	default:
		return 0.3 * sum(c, n, false, false) +
		       0.7 * sum(c, n, true, false);
	}
}

double cpl_study_cost(const struct cpl_stock_tree *tree, const int *loud,
                      enum cpl_study_pattern pattern, const int *node, int n)
{
	struct cost c = {.tree = tree, .loud = loud, .node = node};

	return cost_of(&c, n, pattern);
}

/* This is the cost where the job's nodes are not among the loud ones yet. */
static double cost_to_be(const struct cpl_stock_request *req, const int *node,
                         int *own)
{
	struct cost c = {.tree = req->tree, .loud = req->loud, .node = node};

	memset(own, 0, (size_t)req->tree->n_leaves * sizeof(*own));
	for (int i = 0; i < req->n && req->communicates; i++)
		own[req->tree->leaf_of[node[i]]]++;
	c.own = own;
	return cost_of(&c, req->n, req->study);
}

int cpl_stock_adaptive(const struct cpl_stock_request *req, int *out,
                       struct cpl_error *err)
{
	size_t size = (size_t)req->n * sizeof(int);
	int *other = malloc(size);
	int *own = malloc((size_t)req->tree->n_leaves * sizeof(*own));
	int rc = -1;
	double a, b;

	if (!other || !own) {
		cpl_fail_memory(err);
		goto out;
	}
	if (cpl_stock_greedy(req, out, err) ||
	    cpl_stock_balanced(req, other, err))
		goto out;
	a = cost_to_be(req, out, own);
	b = cost_to_be(req, other, own);
	if (req->communicates ? b < a : b > a)
		memcpy(out, other, size);
	rc = 0;
out:
	cpl_free_all(other, own);
	return rc;
}
