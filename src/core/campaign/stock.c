/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/stock.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* This puts the levels that make switches, finest first, into at[], and returns how
 * many there are. */
static int switch_levels(const struct cpl_network *net, int *at)
{
	int n = 0;

	for (int i = net->n_levels - 1; i >= 0; i--) {
		const struct cpl_level *level = &net->level[i];

		if (level->n_units > 1 && level->n_units < net->n_nodes)
			at[n++] = i;
	}
	return n;
}

static int unit_of_node(const struct cpl_network *net, int level, int node)
{
	if (level < 0)
		return 0;
	return cpl_level_unit(&net->level[level], cpl_network_router(net, node));
}

/* These are the leaves of the finest level, or one leaf of all nodes. */
static void fill_leaves(struct cpl_stock_tree *tree, int leaf)
{
	const struct cpl_network *net = tree->net;
	int *next = tree->first;

	for (int i = 0; i < net->n_nodes; i++) {
		tree->leaf_of[i] = net->node_name[i]
		                           ? unit_of_node(net, leaf, i)
		                           : -1;
		if (tree->leaf_of[i] >= 0)
			next[tree->leaf_of[i] + 1]++;
	}
	for (int u = 0; u < tree->n_leaves; u++)
		next[u + 1] += next[u];
	for (int i = 0; i < net->n_nodes; i++)
		if (tree->leaf_of[i] >= 0)
			tree->node[next[tree->leaf_of[i]]++] = i;
	/* Each has moved to where the next begins, so this moves them back. */
	for (int u = tree->n_leaves; u > 0; u--)
		next[u] = next[u - 1];
	next[0] = 0;
}

int cpl_stock_tree_init(struct cpl_stock_tree *tree,
                        const struct cpl_network *net, struct cpl_error *err)
{
	int at[CPL_NETWORK_MAX_LEVELS + 1], n = switch_levels(net, at);

	if (!n)
		at[n++] = -1;
	*tree = (struct cpl_stock_tree){.net = net, .n_levels = n};
	tree->n_leaves = at[0] < 0 ? 1 : net->level[at[0]].n_units;
	tree->leaf_of = malloc((size_t)net->n_nodes * sizeof(int));
	tree->node = malloc((size_t)net->n_nodes * sizeof(int));
	tree->first = calloc((size_t)tree->n_leaves + 2, sizeof(int));
	tree->unit_of = calloc((size_t)n, sizeof(*tree->unit_of));
	tree->n_units = calloc((size_t)n, sizeof(int));
	if (!tree->leaf_of || !tree->node || !tree->first || !tree->unit_of ||
	    !tree->n_units)
		return cpl_fail_memory(err);
	fill_leaves(tree, at[0]);
	for (int l = 0; l < n; l++) {
		tree->n_units[l] = at[l] < 0 ? 1 : net->level[at[l]].n_units;
		tree->unit_of[l] =
		        calloc((size_t)tree->n_leaves, sizeof(int));
		if (!tree->unit_of[l])
			return cpl_fail_memory(err);
		for (int u = 0; u < tree->n_leaves; u++)
			if (tree->first[u] < tree->first[u + 1])
				tree->unit_of[l][u] = unit_of_node(
				        net, at[l], tree->node[tree->first[u]]);
	}
	return 0;
}

void cpl_stock_tree_free(struct cpl_stock_tree *tree)
{
	for (int l = 0; tree->unit_of && l < tree->n_levels; l++)
		free(tree->unit_of[l]);
	free(tree->unit_of);
	free(tree->n_units);
	free(tree->leaf_of);
	free(tree->first);
	free(tree->node);
}

/* This is a run of n free nodes, first .. end - 1. Ports without a node make no
 * gap, since Slurm does not know them. */
struct free_run {
	int first, end, n;
};

static int find_runs(const struct cpl_stock_request *req, struct free_run *run)
{
	const struct cpl_network *net = req->tree->net;
	bool inside = false;
	int n = 0;

	for (int i = 0; i < net->n_nodes; i++) {
		if (!net->node_name[i])
			continue;
		if (req->free[i] && !inside)
			run[n++] = (struct free_run){.first = i};
		inside = req->free[i];
		if (inside) {
			run[n - 1].end = i + 1;
			run[n - 1].n++;
		}
	}
	return n;
}

/* This says whether a is closer to what is left. */
static bool fits_better(int a, int b, int left)
{
	if (a >= left && b >= left)
		return a < b;
	return a >= left || (b < left && a > b);
}

int cpl_stock_flat(const struct cpl_stock_request *req, int *out,
                   struct cpl_error *err)
{
	struct free_run *run = malloc(
	        ((size_t)req->tree->net->n_nodes / 2 + 1) * sizeof(*run));
	int n_runs, n = 0;

	if (!run)
		return cpl_fail_memory(err);
	n_runs = find_runs(req, run);
	while (n < req->n && n_runs) {
		int best = -1;

		for (int i = 0; i < n_runs; i++)
			if (run[i].n &&
			    (best < 0 || fits_better(run[i].n, run[best].n,
			                             req->n - n)))
				best = i;
		if (best < 0)
			break;
		for (int i = run[best].first;
		     i < run[best].end && n < req->n; i++)
			if (req->free[i])
				out[n++] = i;
		run[best].n = 0;
	}
	qsort(out, (size_t)n, sizeof(*out), cpl_by_int);
	free(run);
	return 0;
}

/* These are the free nodes of the units of each level. */
struct leaf_choice {
	const struct cpl_stock_tree *tree;
	int **count; /* [n_levels][units] */
	int *dist;   /* [n_leaves] sum of hops to those taken */
	int *open;   /* [n_open] leaves with free nodes, increasing */
	int n_open;
};

static int count_free(const struct cpl_stock_request *req, int leaf)
{
	const struct cpl_stock_tree *tree = req->tree;
	int n = 0;

	for (int i = tree->first[leaf]; i < tree->first[leaf + 1]; i++)
		n += req->free[tree->node[i]] != 0;
	return n;
}

static int choice_init(struct leaf_choice *c,
                       const struct cpl_stock_request *req,
                       struct cpl_error *err)
{
	const struct cpl_stock_tree *tree = req->tree;

	*c = (struct leaf_choice){.tree = tree};
	c->count = calloc((size_t)tree->n_levels, sizeof(*c->count));
	c->dist = calloc((size_t)tree->n_leaves, sizeof(int));
	c->open = malloc(((size_t)tree->n_leaves + 1) * sizeof(int));
	if (!c->count || !c->dist || !c->open)
		return cpl_fail_memory(err);
	for (int l = 0; l < tree->n_levels; l++) {
		c->count[l] = calloc((size_t)tree->n_units[l], sizeof(int));
		if (!c->count[l])
			return cpl_fail_memory(err);
	}
	for (int u = 0; u < tree->n_leaves; u++) {
		int n = count_free(req, u);

		if (n)
			c->open[c->n_open++] = u;
		for (int l = 0; n && l < tree->n_levels; l++)
			c->count[l][tree->unit_of[l][u]] += n;
	}
	return 0;
}

static void choice_free(struct leaf_choice *c)
{
	for (int l = 0; c->count && l < c->tree->n_levels; l++)
		free(c->count[l]);
	cpl_free_all(c->count, c->dist, c->open);
}

/* This is above 0 if leaf a fits better than b. Where neither is enough the
 * switches above count, as far up as they differ. */
static int compare(const struct leaf_choice *c, int a, int b, int left)
{
	int na = 0, nb = 0;

	for (int l = 0; l < c->tree->n_levels; l++) {
		int ua = c->tree->unit_of[l][a], ub = c->tree->unit_of[l][b];

		if (l && ua == ub)
			break;
		na = c->count[l][ua];
		nb = c->count[l][ub];
		if (na >= left && nb >= left && na != nb)
			return na < nb ? 1 : -1;
		if (na >= left || nb >= left)
			return (na >= left) - (nb >= left);
	}
	return (na > nb) - (na < nb);
}

/* These are the hops between leaves, up to the switch above both and down. */
static int hops(const struct cpl_stock_tree *tree, int a, int b)
{
	int l = 0;

	while (l < tree->n_levels &&
	       tree->unit_of[l][a] != tree->unit_of[l][b])
		l++;
	return 2 * l;
}

/* This returns the place of the best one among those open, or -1. */
static int next_leaf(const struct leaf_choice *c, int left)
{
	int best = c->n_open ? 0 : -1;

	for (int k = 1; k < c->n_open; k++) {
		int i = c->open[k], other = c->open[best], better;

		if (c->dist[i] > c->dist[other])
			continue;
		better = compare(c, i, other, left);
		if (better > 0 || (!better && c->dist[i] < c->dist[other]))
			best = k;
	}
	return best;
}

/* A leaf that was taken is open no longer, and the others are nearer to it or not. */
static void close_leaf(struct leaf_choice *c, int at)
{
	int leaf = c->open[at];

	c->count[0][leaf] = 0;
	memmove(&c->open[at], &c->open[at + 1],
	        (size_t)(--c->n_open - at) * sizeof(leaf));
	for (int k = 0; k < c->n_open; k++)
		c->dist[c->open[k]] += hops(c->tree, c->open[k], leaf);
}

/* This puts at most `most` free nodes of a leaf behind out[n], and returns the new
 * n. */
static int take_nodes(const struct cpl_stock_request *req, int leaf, int most,
                      int *out, int n)
{
	const struct cpl_stock_tree *tree = req->tree;

	for (int i = tree->first[leaf]; i < tree->first[leaf + 1] && most; i++)
		if (req->free[tree->node[i]]) {
			out[n++] = tree->node[i];
			most--;
		}
	return n;
}

/* The order is by leaf, then by node. */
struct ranked {
	int leaf, node;
};

static CPL_SORT_BY(by_leaf_then_node, struct ranked, CPL_UP(leaf), CPL_UP(node))

static int sort_nodes(const struct cpl_stock_tree *tree, bool by_leaf,
                      int *node, int n, struct cpl_error *err)
{
	struct ranked *ranked = malloc((size_t)n * sizeof(*ranked));

	if (!ranked)
		return cpl_fail_memory(err);
	for (int i = 0; i < n; i++)
		ranked[i] = (struct ranked){
		        by_leaf ? tree->leaf_of[node[i]] : 0, node[i]};
	qsort(ranked, (size_t)n, sizeof(*ranked), by_leaf_then_node);
	for (int i = 0; i < n; i++)
		node[i] = ranked[i].node;
	free(ranked);
	return 0;
}

int cpl_stock_tree_choose(const struct cpl_stock_request *req, bool by_leaf,
                         int *out, struct cpl_error *err)
{
	struct leaf_choice c;
	int n = 0, at, rc = choice_init(&c, req, err);

	while (!rc && n < req->n && (at = next_leaf(&c, req->n - n)) >= 0) {
		n = take_nodes(req, c.open[at], req->n - n, out, n);
		close_leaf(&c, at);
	}
	if (!rc)
		rc = sort_nodes(req->tree, by_leaf, out, n, err);
	choice_free(&c);
	return rc;
}

/* The study orders leaves by this. */
struct leaf {
	int leaf, n_free, busy, nodes, loud;
	double ratio;
};

static CPL_SORT_BY(more_free, struct leaf, CPL_DOWN(n_free), CPL_UP(loud),
                   CPL_UP(leaf))

static CPL_SORT_BY(less_free, struct leaf, CPL_UP(n_free), CPL_DOWN(loud),
                   CPL_UP(leaf))

static CPL_SORT_BY(fullest, struct leaf, CPL_UP(n_free), CPL_UP(leaf))

static CPL_SORT_BY(lower_ratio, struct leaf, CPL_UP(ratio), CPL_UP(loud),
                   CPL_UP(leaf))

static CPL_SORT_BY(higher_ratio, struct leaf, CPL_DOWN(ratio), CPL_UP(leaf))

/* This lists the *n leaves with free nodes. It returns NULL with err. */
static struct leaf *list_leaves(const struct cpl_stock_request *req, int *n,
                                struct cpl_error *err)
{
	const struct cpl_stock_tree *tree = req->tree;
	struct leaf *leaf = calloc((size_t)tree->n_leaves, sizeof(*leaf));

	*n = 0;
	if (!leaf)
		cpl_fail_memory(err);
	for (int u = 0; leaf && u < tree->n_leaves; u++) {
		struct leaf *at = &leaf[*n];

		*at = (struct leaf){.leaf = u,
		                    .nodes = tree->first[u + 1] -
		                             tree->first[u],
		                    .loud = req->loud[u]};
		at->n_free = count_free(req, u);
		at->busy = at->nodes - at->n_free;
		if (!at->n_free)
			continue;
		at->ratio = (double)at->busy / at->nodes;
		if (at->busy)
			at->ratio += (double)at->loud / at->busy;
		(*n)++;
	}
	return leaf;
}

/* This returns the fullest leaf that is enough by itself, or NULL. */
static const struct leaf *one_leaf(const struct leaf *leaf, int n, int wanted)
{
	const struct leaf *best = NULL;

	for (int i = 0; i < n; i++)
		if (leaf[i].n_free >= wanted &&
		    (!best || leaf[i].n_free < best->n_free))
			best = &leaf[i];
	return best;
}

/* This takes one leaf, or leaf after leaf in that order. */
static int take_leaves(const struct cpl_stock_request *req,
                       int (*order)(const void *, const void *), int *out,
                       struct cpl_error *err)
{
	int n_leaves, n = 0;
	struct leaf *leaf = list_leaves(req, &n_leaves, err);
	const struct leaf *one;

	if (!leaf)
		return -1;
	one = one_leaf(leaf, n_leaves, req->n);
	if (one)
		n = take_nodes(req, one->leaf, req->n, out, n);
	else
		qsort(leaf, (size_t)n_leaves, sizeof(*leaf), order);
	for (int i = 0; i < n_leaves && n < req->n; i++)
		n = take_nodes(req, leaf[i].leaf, req->n - n, out, n);
	free(leaf);
	return 0;
}

int cpl_stock_select_linear(const struct cpl_stock_request *req, int *out,
                            struct cpl_error *err)
{
	return take_leaves(req, fullest, out, err);
}

int cpl_stock_greedy(const struct cpl_stock_request *req, int *out,
                     struct cpl_error *err)
{
	return take_leaves(
	        req, req->communicates ? lower_ratio : higher_ratio, out, err);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* This puts the nodes of each leaf, in their order, into share[]. */
static void balance(const struct leaf *leaf, int n_leaves, int wanted,
                    int *share)
{
	int size = wanted, left = wanted, i;

	for (i = 0; i < n_leaves && left; i++) {
		while (size > leaf[i].n_free)
			size /= 2;
		share[i] = least(size, left);
		left -= share[i];
	}
	while (left && i-- > 0) {
		int more = least(leaf[i].n_free - share[i], left);

		share[i] += more;
		left -= more;
	}
}

int cpl_stock_balanced(const struct cpl_stock_request *req, int *out,
                       struct cpl_error *err)
{
	int n_leaves, n = 0;
	struct leaf *leaf = list_leaves(req, &n_leaves, err);
	int *share = calloc((size_t)req->tree->n_leaves, sizeof(*share));
	const struct leaf *one;

	if (!leaf || !share) {
		free(leaf);
		free(share);
		return cpl_fail_memory(err);
	}
	one = one_leaf(leaf, n_leaves, req->n);
	if (one) {
		n = take_nodes(req, one->leaf, req->n, out, n);
	} else if (req->communicates) {
		qsort(leaf, (size_t)n_leaves, sizeof(*leaf), more_free);
		balance(leaf, n_leaves, req->n, share);
	} else {
		qsort(leaf, (size_t)n_leaves, sizeof(*leaf), less_free);
		for (int i = 0; i < n_leaves; i++)
			share[i] = leaf[i].n_free;
	}
	for (int i = 0; i < n_leaves && n < req->n; i++)
		n = take_nodes(req, leaf[i].leaf, least(share[i], req->n - n),
		               out, n);
	free(leaf);
	free(share);
	return 0;
}
