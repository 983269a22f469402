/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>

static hwloc_obj_t ancestor_at(hwloc_obj_t obj, int depth)
{
	while (obj->depth > depth && obj->parent)
		obj = obj->parent;
	return obj;
}

/* Partitions of nested levels are equal when their class counts are. */
static int count_classes(const hwloc_obj_t *core, int n, int depth)
{
	int classes = 0;

	for (int i = 0; i < n; i++)
		classes += i == 0 || ancestor_at(core[i], depth) !=
		                             ancestor_at(core[i - 1], depth);
	return classes;
}

static void fill_level(struct cpl_slot_tree *tree, int level, int depth,
                       const hwloc_obj_t *core, int per_slot)
{
	int *object = tree->object + (size_t)level * tree->n_slots;
	hwloc_obj_t last = NULL;
	int n = 0;

	for (int s = 0; s < tree->n_slots; s++) {
		const hwloc_obj_t *first = core + (size_t)s * per_slot;
		hwloc_obj_t key = ancestor_at(first[0], depth);

		for (int c = 1; key && c < per_slot; c++)
			if (ancestor_at(first[c], depth) != key)
				key = NULL;
		n += s == 0 || !key || key != last;
		object[s] = n - 1;
		last = key;
	}
	tree->n_objects[level] = n;
}

struct cpl_slot_tree *cpl_slot_tree_new(const struct cpl_bind_request *req,
                                        struct cpl_error *err)
{
	hwloc_topology_t topology = req->topology;
	int per_slot = req->cores_per_rank;
	int core_depth = hwloc_get_type_or_below_depth(
	        topology, req->by_pu ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE);
	int n_all = (int)hwloc_get_nbobjs_by_depth(topology, core_depth);
	int n_cores = 0, classes = 0;
	struct cpl_slot_tree *tree = calloc(1, sizeof(*tree));
	hwloc_obj_t *core = calloc((size_t)n_all + 1, sizeof(*core));
	int *kept = calloc((size_t)core_depth + 1, sizeof(*kept));

	if (!tree || !core || !kept) {
		cpl_fail_memory(err);
		goto failed;
	}
	for (int i = 0; i < n_all; i++)
		core[i] = hwloc_get_obj_by_depth(topology, core_depth,
		                                 (unsigned)i);
	for (int d = 0; d < core_depth; d++) {
		int n = count_classes(core, n_all, d);

		if (n > classes && n < n_all) {
			kept[tree->n_levels++] = d;
			classes = n;
		}
	}
	for (int i = 0; i < n_all; i++)
		if (!req->allowed ||
		    hwloc_bitmap_intersects(core[i]->cpuset, req->allowed))
			core[n_cores++] = core[i];
	tree->n_slots = n_cores / per_slot;
	if (tree->n_slots == 0) {
		if (n_cores == 0)
			cpl_fail(err, "none of the allowed CPUs is in the "
			              "topology");
		else
			cpl_fail(err,
			         "%d %s per rank asked for, %d are allowed",
			         per_slot, req->by_pu ? "CPUs" : "cores",
			         n_cores);
		goto failed;
	}
	tree->cpuset = calloc((size_t)tree->n_slots, sizeof(*tree->cpuset));
	tree->object = calloc((size_t)tree->n_levels * tree->n_slots + 1,
	                      sizeof(*tree->object));
	tree->n_objects =
	        calloc((size_t)tree->n_levels + 1, sizeof(*tree->n_objects));
	if (!tree->cpuset || !tree->object || !tree->n_objects) {
		cpl_fail_memory(err);
		goto failed;
	}
	for (int s = 0; s < tree->n_slots; s++) {
		hwloc_cpuset_t set = tree->cpuset[s] = hwloc_bitmap_alloc();
		int rc = set ? 0 : -1;

		for (int c = 0; rc == 0 && c < per_slot; c++)
			rc = hwloc_bitmap_or(set, set,
			                     core[s * per_slot + c]->cpuset);
		if (rc == 0 && req->allowed)
			rc = hwloc_bitmap_and(set, set, req->allowed);
		if (rc) {
			cpl_fail_memory(err);
			goto failed;
		}
	}
	for (int l = 0; l < tree->n_levels; l++)
		fill_level(tree, l, kept[l], core, per_slot);
	free(core);
	free(kept);
	return tree;

failed:
	free(core);
	free(kept);
	cpl_slot_tree_free(tree);
	return NULL;
}

void cpl_slot_tree_free(struct cpl_slot_tree *tree)
{
	if (!tree)
		return;
	for (int s = 0; tree->cpuset && s < tree->n_slots; s++)
		hwloc_bitmap_free(tree->cpuset[s]);
	free(tree->cpuset);
	free(tree->object);
	free(tree->n_objects);
	free(tree);
}

int cpl_slot_distance(const struct cpl_slot_tree *tree, int a, int b)
{
	int level = tree->n_levels - 1;

	if (a == b)
		return 0;
	while (level > 0 &&
	       tree->object[(size_t)level * tree->n_slots + a] !=
	               tree->object[(size_t)level * tree->n_slots + b])
		level--;
	return 2 * (tree->n_levels - level);
}

double cpl_slot_cost(const struct cpl_slot_tree *tree,
                     const struct cpl_comm *graph, const int *slot)
{
	double cost = 0;

	for (int i = 0; i < graph->ranks; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			if (graph->to[e] > i)
				cost += graph->bytes[e] *
				        cpl_slot_distance(tree, slot[i],
				                          slot[graph->to[e]]);
	return cost;
}
