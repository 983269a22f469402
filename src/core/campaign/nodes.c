/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/nodes.h"

#include <stdlib.h>
#include <string.h>

static size_t n_all(const struct campaign_nodes *nodes)
{
	return (size_t)nodes->tree->net->n_nodes;
}

static void set_free(struct campaign_nodes *nodes, int node, bool free)
{
	nodes->free[node] = free;
	nodes->n_free += free ? 1 : -1;
	nodes->leaf_free[nodes->tree->leaf_of[node]] += free ? 1 : -1;
}

int nodes_open(struct campaign_nodes *nodes, const struct cpl_stock_tree *tree,
               const struct bounds *bounds, struct cpl_error *err)
{
	size_t n = (size_t)tree->net->n_nodes;

	*nodes = (struct campaign_nodes){.tree = tree, .bounds = bounds};
	nodes->free = calloc(n, 1);
	nodes->may = calloc(n, 1);
	nodes->kept = calloc(n, 1);
	nodes->then = calloc(n, 1);
	nodes->found = malloc(n * sizeof(int));
	nodes->loud = calloc((size_t)tree->n_leaves, sizeof(int));
	nodes->leaf_free = calloc((size_t)tree->n_leaves, sizeof(int));
	nodes->count = malloc(((size_t)bounds->units.n + 1) * sizeof(int));
	nodes->least = calloc((size_t)bounds->n + 1, sizeof(*nodes->least));
	if (!nodes->free || !nodes->may || !nodes->kept || !nodes->then ||
	    !nodes->found || !nodes->loud || !nodes->leaf_free ||
	    !nodes->count || !nodes->least)
		return cpl_fail_memory(err);
	for (int i = 0; i < tree->net->n_nodes; i++)
		if (tree->net->node_name[i])
			set_free(nodes, i, true);
	nodes->n = nodes->n_free;
	return 0;
}

void nodes_close(struct campaign_nodes *nodes)
{
	cpl_free_all(nodes->free, nodes->may, nodes->kept, nodes->then,
	             nodes->found, nodes->loud, nodes->leaf_free, nodes->count,
	             nodes->least);
}

/* This tells which units the nodes of a job are in that has them whole. */
static bool holds_more(struct campaign_nodes *nodes, const struct job_bound *bound,
                       const int *node, int n)
{
	const struct cpl_whole_units *units = &nodes->bounds->units;

	if (!bound || !bound->asked.whole)
		return false;
	memset(nodes->count, 0, (size_t)units->n * sizeof(int));
	for (int i = 0; i < n; i++)
		nodes->count[units->unit[node[i]]] = 1;
	return true;
}

/* The other nodes of these units become free, or are so no longer. */
static int set_others(struct campaign_nodes *nodes, bool free)
{
	const int *unit = nodes->bounds->units.unit;
	int before = nodes->n_free;

	for (size_t i = 0; i < n_all(nodes); i++)
		if (nodes->count[unit[i]] && nodes->bounds->all[i] &&
		    nodes->free[i] != free)
			set_free(nodes, (int)i, free);
	return abs(nodes->n_free - before);
}

int nodes_take(struct campaign_nodes *nodes, const struct job_bound *bound,
               const int *node, int n, bool loud)
{
	for (int i = 0; i < n; i++) {
		set_free(nodes, node[i], false);
		nodes->loud[nodes->tree->leaf_of[node[i]]] += loud;
	}
	nodes->n_used += n;
	return holds_more(nodes, bound, node, n) ? set_others(nodes, false) : 0;
}

int nodes_give(struct campaign_nodes *nodes, const struct job_bound *bound,
               const int *node, int n, bool loud)
{
	for (int i = 0; i < n; i++) {
		set_free(nodes, node[i], true);
		nodes->loud[nodes->tree->leaf_of[node[i]]] -= loud;
	}
	nodes->n_used -= n;
	memset(nodes->least, 0,
	       ((size_t)nodes->bounds->n + 1) * sizeof(*nodes->least));
	return holds_more(nodes, bound, node, n) ? set_others(nodes, true) : 0;
}

/* Of each unit's nodes in may[] so many stay as would be left over if segments filled
 * it, those that are not free yet first; with `spare` less what is kept. */
static void leave_over(struct campaign_nodes *nodes, unsigned char *may,
                       int segment, bool spare)
{
	const struct cpl_whole_units *units = &nodes->bounds->units;

	memset(nodes->count, 0, (size_t)units->n * sizeof(int));
	for (size_t i = 0; i < n_all(nodes); i++)
		nodes->count[units->unit[i]] += may[i];
	for (int u = 0; u < units->n; u++)
		nodes->count[u] %= segment;
	for (size_t i = 0; i < n_all(nodes) && spare; i++)
		if (may[i] && nodes->kept[i]) {
			may[i] = 0;
			nodes->count[units->unit[i]]--;
		}
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n_all(nodes); i++)
			if (may[i] && nodes->free[i] == pass)
				may[i] = nodes->count[units->unit[i]]-- > 0;
}

int nodes_have(struct campaign_nodes *nodes, const struct job_bound *bound, int n,
               struct nodes_allowed allowed, struct cpl_error *err)
{
	bool spare = allowed.spare;
	int *least = bound && !allowed.segment
	                   ? &nodes->least[bound - nodes->bounds->bound][spare]
	                   : NULL;
	int rc;

	if (least && *least && n >= *least)
		return 0;
	memcpy(nodes->may, nodes->free, n_all(nodes));
	if (allowed.segment)
		leave_over(nodes, nodes->may, allowed.segment, spare);
	for (size_t i = 0; i < n_all(nodes) && spare; i++)
		nodes->may[i] &= !nodes->kept[i];
	bound_narrow(nodes->bounds, bound, nodes->may, nodes->count);
	rc = bound_find(nodes->bounds, bound, nodes->may, NULL, n, nodes->found,
	                err);
	if (rc > 0 && least)
		*least = n;
	return rc < 0 ? -1 : !rc;
}

void nodes_then(struct campaign_nodes *nodes)
{
	memcpy(nodes->then, nodes->free, n_all(nodes));
}

void nodes_then_add(struct campaign_nodes *nodes, const struct job_bound *bound,
                    const int *node, int n)
{
	const int *unit = nodes->bounds->units.unit;

	for (int i = 0; i < n; i++)
		nodes->then[node[i]] = 1;
	if (!holds_more(nodes, bound, node, n))
		return;
	for (size_t i = 0; i < n_all(nodes); i++)
		if (nodes->count[unit[i]])
			nodes->then[i] = nodes->bounds->all[i];
}

int nodes_keep(struct campaign_nodes *nodes, const struct job_bound *bound, int n,
               int segment, struct cpl_error *err)
{
	const int *unit = nodes->bounds->units.unit;
	int rc;

	/* What is not free now comes first. */
	for (size_t i = 0; i < n_all(nodes); i++)
		nodes->may[i] = !nodes->free[i];
	if (segment)
		leave_over(nodes, nodes->then, segment, false);
	bound_narrow(nodes->bounds, bound, nodes->then, nodes->count);
	rc = bound_find(nodes->bounds, bound, nodes->then, nodes->may, n,
	                nodes->found, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	memset(nodes->kept, 0, n_all(nodes));
	for (int i = 0; i < n; i++)
		nodes->kept[nodes->found[i]] = 1;
	if (holds_more(nodes, bound, nodes->found, n))
		for (size_t i = 0; i < n_all(nodes); i++)
			nodes->kept[i] = nodes->count[unit[i]] > 0;
	for (int i = 0; i < nodes->bounds->n; i++)
		nodes->least[i][1] = 0;
	return 1;
}

double nodes_fragmented(const struct campaign_nodes *nodes)
{
	const struct cpl_stock_tree *tree = nodes->tree;
	int split = 0;

	for (int u = 0; u < tree->n_leaves; u++)
		if (nodes->leaf_free[u] < tree->first[u + 1] - tree->first[u])
			split += nodes->leaf_free[u];
	return nodes->n_free ? (double)split / nodes->n_free : 0;
}
