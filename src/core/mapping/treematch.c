/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "graph/treematch.h"
#include "mapping/clusters.h"

#define MAX_LEVELS 128

struct target_tree {
	const struct cpl_network *net;
	int n_levels; /* below the root, the coarsest first */
	/* On a torus, the boxes of each level, in routers. */
	int box[MAX_LEVELS][CPL_NETWORK_MAX_DIMS];
	/* [routers] On a graph that is a tree, its switches. */
	bool is_tree;
	int *parent, *depth; /* -1: the root's */
};

/* On a torus boxes double from a router to the whole, one dimension a time. */
static void torus_levels(struct target_tree *t)
{
	const struct cpl_product *torus = &t->net->product;
	int box[MAX_LEVELS][CPL_NETWORK_MAX_DIMS], n = 0;
	int now[CPL_NETWORK_MAX_DIMS];

	for (int d = 0; d < torus->n_dims; d++)
		now[d] = 1;
	while (n < MAX_LEVELS) {
		int least = -1;

		for (int d = 0; d < torus->n_dims; d++) {
			box[n][d] = now[d];
			if (now[d] < torus->dim[d] &&
			    (least < 0 || now[d] < now[least]))
				least = d;
		}
		n++;
		if (least < 0)
			break;
		now[least] *= 2;
	}
	for (int l = 0; l < n; l++)
		for (int d = 0; d < torus->n_dims; d++)
			t->box[l][d] = box[n - 1 - l][d];
	t->n_levels = n;
}

/* Goes breadth-first from `start` and returns the last router of *reached. */
static int visit(const struct cpl_comm *routers, int start,
                 struct target_tree *t, int *queue, int *reached)
{
	int n = 0;

	for (int r = 0; r < routers->ranks; r++)
		t->depth[r] = -1;
	t->depth[start] = 0;
	t->parent[start] = -1;
	queue[n++] = start;
	for (int head = 0; head < n; head++) {
		int at = queue[head];

		for (int64_t e = routers->row[at]; e < routers->row[at + 1];
		     e++) {
			int to = routers->to[e];

			if (t->depth[to] >= 0)
				continue;
			t->depth[to] = t->depth[at] + 1;
			t->parent[to] = at;
			queue[n++] = to;
		}
	}
	*reached = n;
	return queue[n - 1];
}

/* A graph that is a tree hangs from the middle of its longest path. Other
 * graphs have no level but that of the routers. */
static int graph_levels(struct target_tree *t, struct cpl_arena *arena,
                        struct cpl_error *err)
{
	int n = t->net->n_routers, at, reached, half;
	int *queue = cpl_arena_take(arena, n, sizeof(*queue));
	struct cpl_comm *routers = cpl_map_router_graph(t->net, err);

	t->parent = cpl_arena_take(arena, n, sizeof(int));
	t->depth = cpl_arena_take(arena, n, sizeof(int));
	if (!routers || arena->failed) {
		cpl_comm_free(routers);
		return routers ? cpl_fail_memory(err) : -1;
	}
	t->n_levels = 1;
	at = visit(routers, 0, t, queue, &reached);
	t->is_tree =
	        reached == n && routers->n_entries == 2 * ((int64_t)n - 1);
	if (t->is_tree) {
		at = visit(routers, at, t, queue, &reached);
		half = t->depth[at] / 2;
		while (t->depth[at] > half)
			at = t->parent[at];
		at = visit(routers, at, t, queue, &reached);
		t->n_levels = t->depth[at];
		if (t->n_levels > MAX_LEVELS)
			t->n_levels = MAX_LEVELS;
	}
	cpl_comm_free(routers);
	return 0;
}

static int make_levels(struct target_tree *t, struct cpl_arena *arena,
                       struct cpl_error *err)
{
	if (cpl_network_product(t->net))
		torus_levels(t);
	else if (cpl_network_type_is_irregular(t->net->type))
		return graph_levels(t, arena, err);
	else
		t->n_levels = t->net->n_levels;
	return 0;
}

/* The object of a level that contains a router; numbers of a level may have
 * gaps. Level 0 is the coarsest below the root. */
static int object_of(const struct target_tree *t, int router, int level)
{
	const struct cpl_product *product = cpl_network_product(t->net);
	int id = 0, at = router;

	for (int d = 0; product && d < product->n_dims; d++) {
		int box = t->box[level][d], dim = product->dim[d];

		id = id * ((dim + box - 1) / box) + at % dim / box;
		at /= dim;
	}
	if (product)
		return id;
	if (!cpl_network_type_is_irregular(t->net->type))
		return cpl_level_unit(&t->net->level[level], router);
	while (t->is_tree && t->depth[at] > level + 1)
		at = t->parent[at];
	return at;
}

struct tree_key {
	const int *path; /* [levels] */
	int n, target;
};

static int by_path(const void *a, const void *b)
{
	const struct tree_key *x = a, *y = b;

	for (int l = 0; l < x->n; l++)
		if (x->path[l] != y->path[l])
			return x->path[l] < y->path[l] ? -1 : 1;
	return (x->target > y->target) - (x->target < y->target);
}

/* Lists targets in the order of the tree, and the levels where it branches. */
static int build(const struct target_tree *t, struct cpl_clusters *clusters,
                 struct cpl_tree *out, int *order, struct cpl_error *err)
{
	size_t n = (size_t)clusters->n, levels = (size_t)t->n_levels;
	int *path = cpl_arena_take(&clusters->arena, (int64_t)(n * levels),
	                           sizeof(*path));
	struct tree_key *key = cpl_clusters_take(clusters, sizeof(*key));
	int last = 1;

	if (clusters->arena.failed)
		return cpl_fail_memory(err);
	if (cpl_tree_init(out, clusters->n, t->n_levels, err))
		return -1;
	for (size_t p = 0; p < n; p++) {
		int router = cpl_network_router(t->net, clusters->node[p]);

		key[p] = (struct tree_key){path + p * levels, t->n_levels,
		                           (int)p};
		for (int l = 0; l < t->n_levels; l++)
			path[p * levels + (size_t)l] = object_of(t, router, l);
	}
	qsort(key, n, sizeof(*key), by_path);
	out->n_objects[0] = out->n_levels = 1;
	for (int l = 0; l < t->n_levels; l++) {
		int *object = out->object + (size_t)out->n_levels * n;

		object[0] = 0;
		for (size_t p = 1; p < n; p++) {
			int differ = 0;

			for (int k = 0; k <= l; k++)
				differ |= key[p].path[k] != key[p - 1].path[k];
			object[p] = object[p - 1] + differ;
		}
		if (object[n - 1] + 1 > last && object[n - 1] + 1 < clusters->n)
			out->n_objects[out->n_levels++] = last =
			        object[n - 1] + 1;
	}
	for (size_t p = 0; p < n; p++)
		order[p] = key[p].target;
	return 0;
}

static int assign(struct cpl_clusters *clusters, int *target_of,
                  struct cpl_error *err)
{
	struct target_tree t = {.net = clusters->req->net};
	struct cpl_tree tree = {0};
	int *order = cpl_clusters_take(clusters, sizeof(*order));
	int *slot = cpl_clusters_take(clusters, sizeof(*slot));
	int *cluster = cpl_clusters_take(clusters, sizeof(*cluster));
	int rc;

	if (clusters->arena.failed)
		return cpl_fail_memory(err);
	if (make_levels(&t, &clusters->arena, err) ||
	    build(&t, clusters, &tree, order, err))
		return -1;
	rc = cpl_treematch(&tree, clusters->graph, clusters->req->expired,
	                   clusters->req->expired_arg, slot, err);
	cpl_tree_free(&tree);
	/* When time is over, no cluster has a target. */
	if (rc)
		return rc < 0 ? -1 : 0;
	for (int i = 0; i < clusters->n; i++)
		cluster[slot[i]] = i;
	return cpl_clusters_pair(clusters, cluster, order, target_of, err);
}

const struct cpl_mapper cpl_mapper_treematch = {
        .name = "treematch",
        .summary = "groups ranks level by level of the network's tree",
        .assign = assign,
};
