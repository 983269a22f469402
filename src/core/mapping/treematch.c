/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "graph/treematch.h"
#include "mapping/clusters.h"

#define MAX_LEVELS 128

/* The switch tree of a graph, where it is one. */
struct switches {
	int *parent; /* [routers] -1: the root */
	int *depth;
};

struct tree {
	const struct cpl_network *net;
	int n_levels; /* below the root, the coarsest first */
	/* Torus: boxes of one level, in routers. */
	int box[MAX_LEVELS][CPL_NETWORK_MAX_DIMS];
	struct switches switches;
};

/* Boxes of one router doubled dimension after dimension up to the whole. */
static void torus_levels(struct tree *t)
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

/* Breadth-first from `start`; the last router reached, and how many. */
static int visit(const struct cpl_comm *routers, int start, struct switches *s,
                 int *queue, int *reached)
{
	int n = 0;

	for (int r = 0; r < routers->ranks; r++)
		s->depth[r] = -1;
	s->depth[start] = 0;
	s->parent[start] = -1;
	queue[n++] = start;
	for (int head = 0; head < n; head++) {
		int at = queue[head];

		for (int64_t e = routers->row[at]; e < routers->row[at + 1];
		     e++) {
			int to = routers->to[e];

			if (s->depth[to] >= 0)
				continue;
			s->depth[to] = s->depth[at] + 1;
			s->parent[to] = at;
			queue[n++] = to;
		}
	}
	*reached = n;
	return queue[n - 1];
}

/* A graph that is a tree hangs from the middle of its longest way. Others have
 * no level but that of the routers. */
static int graph_levels(struct tree *t, struct cpl_error *err)
{
	const struct cpl_network *net = t->net;
	size_t n = (size_t)net->n_routers;
	int *queue = malloc(n * sizeof(*queue));
	struct cpl_comm *routers = NULL;
	int at, reached, half, rc = -1;

	t->switches.parent = malloc(n * sizeof(int));
	t->switches.depth = malloc(n * sizeof(int));
	if (!queue || !t->switches.parent || !t->switches.depth) {
		cpl_fail_memory(err);
		goto out;
	}
	routers = cpl_map_router_graph(net, err);
	if (!routers)
		goto out;
	rc = 0;
	t->n_levels = 1;
	at = visit(routers, 0, &t->switches, queue, &reached);
	if (reached == net->n_routers &&
	    routers->n_entries == 2 * ((int64_t)net->n_routers - 1)) {
		at = visit(routers, at, &t->switches, queue, &reached);
		half = t->switches.depth[at] / 2;
		while (t->switches.depth[at] > half)
			at = t->switches.parent[at];
		at = visit(routers, at, &t->switches, queue, &reached);
		t->n_levels = t->switches.depth[at];
		if (t->n_levels > MAX_LEVELS)
			t->n_levels = MAX_LEVELS;
	} else {
		free(t->switches.parent);
		t->switches.parent = NULL;
	}
out:
	cpl_comm_free(routers);
	free(queue);
	return rc;
}

static int make_levels(struct tree *t, struct cpl_error *err)
{
	if (cpl_network_product(t->net))
		torus_levels(t);
	else if (cpl_network_type_is_irregular(t->net->type))
		return graph_levels(t, err);
	else
		t->n_levels = t->net->n_levels;
	return 0;
}

/* The object of a level that a router is in: the number among all of the level
 * need not be dense. Level 0 is the coarsest below the root. */
static int object_of(const struct tree *t, int router, int level)
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
	if (!(cpl_network_type_is_irregular(t->net->type)))
		return cpl_level_unit(&t->net->level[level], router);
	while (t->switches.parent && t->switches.depth[at] > level + 1)
		at = t->switches.parent[at];
	return at;
}

struct key {
	const int *path; /* [levels] */
	int n, target;
};

static int by_path(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	for (int l = 0; l < x->n; l++)
		if (x->path[l] != y->path[l])
			return x->path[l] < y->path[l] ? -1 : 1;
	return (x->target > y->target) - (x->target < y->target);
}

/* Targets in the order of the tree, and the levels at which it branches. */
static int build(const struct tree *t, const struct cpl_clusters *clusters,
                 struct cpl_tree *out, int *order, struct cpl_error *err)
{
	size_t n = (size_t)clusters->n, levels = (size_t)t->n_levels;
	int *path = malloc((n * levels + 1) * sizeof(*path));
	struct key *key = malloc(n * sizeof(*key));
	int last = 1, rc = -1;

	if (!path || !key) {
		cpl_fail_memory(err);
		goto done;
	}
	if (cpl_tree_init(out, clusters->n, t->n_levels, err))
		goto done;
	for (size_t p = 0; p < n; p++) {
		int router = cpl_network_router(t->net, clusters->node[p]);

		key[p] = (struct key){path + p * levels, t->n_levels, (int)p};
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
	rc = 0;
done:
	free(path);
	free(key);
	return rc;
}

static int assign(struct cpl_clusters *clusters, int *target_of,
                  struct cpl_error *err)
{
	struct tree t = {.net = clusters->req->net};
	struct cpl_tree tree = {0};
	size_t n = (size_t)clusters->n;
	int *order = malloc(n * sizeof(*order));
	int *slot = malloc(n * sizeof(*slot));
	int *cluster = malloc(n * sizeof(*cluster));
	int rc = -1;

	if (!order || !slot || !cluster) {
		cpl_fail_memory(err);
		goto out;
	}
	if (make_levels(&t, err) || build(&t, clusters, &tree, order, err))
		goto out;
	rc = cpl_treematch(&tree, clusters->graph, clusters->req->expired,
	                   clusters->req->expired_arg, slot, err);
	if (rc) {
		/* Out of time: no cluster has a target. */
		rc = rc < 0 ? -1 : 0;
		goto out;
	}
	for (int i = 0; i < clusters->n; i++)
		cluster[slot[i]] = i;
	rc = cpl_clusters_pair(clusters, cluster, order, target_of, err);
out:
	free(t.switches.parent);
	free(t.switches.depth);
	cpl_tree_free(&tree);
	free(order);
	free(slot);
	free(cluster);
	return rc;
}

const struct cpl_mapper cpl_mapper_treematch = {
        .name = "treematch",
        .summary = "groups ranks level by level of the network's tree",
        .assign = assign,
};
