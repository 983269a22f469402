/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"

const struct cpl_binder *cpl_binder_at(int i)
{
	return (const struct cpl_binder *)cpl_registry_at(&cpl_binders, i);
}

const struct cpl_binder *cpl_binder_find(const char *name,
                                         struct cpl_error *err)
{
	return cpl_binder_find_in(&cpl_binders, name, err);
}

const struct cpl_binder *cpl_binder_find_in(const struct cpl_registry *binders,
                                            const char *name,
                                            struct cpl_error *err)
{
	const struct cpl_entry *found =
	        cpl_registry_find(binders, name, strlen(name), NULL, NULL);
	char names[128], hint[64];

	if (found)
		return (const struct cpl_binder *)found;
	if (!strcmp(name, "default"))
		return &cpl_binder_packed;
	if (!strcmp(name, "scotch"))
		cpl_fail(err, "binding algorithm \"scotch\" is not in this "
		              "program: it is only in a commplace command "
		              "built with Scotch");
	else
		cpl_fail(err,
		         "unknown binding algorithm \"%s\"%s; it must be one "
		         "of %s",
		         name,
		         cpl_registry_hint(binders, name, hint, sizeof(hint)),
		         cpl_registry_names(binders, 0, NULL, NULL, names,
		                            sizeof(names)));
	return NULL;
}

static int check_slots(const int *slot, int ranks, int n_slots,
                       unsigned char *taken)
{
	memset(taken, 0, (size_t)n_slots);
	for (int r = 0; r < ranks; r++) {
		if (slot[r] < 0 || slot[r] >= n_slots || taken[slot[r]])
			return -1;
		taken[slot[r]] = 1;
	}
	return 0;
}

static double weight(enum cpl_bind_metric metric, double bytes, double messages)
{
	if (metric == CPL_BIND_MESSAGES)
		return messages;
	if (metric == CPL_BIND_AVERAGE)
		return messages > 0 ? bytes / messages : 0;
	return bytes;
}

static int check_request(const struct cpl_bind_request *req,
                         struct cpl_error *err)
{
	if (req->cores_per_rank < 1)
		return cpl_fail(err,
		                "%d cores per rank; there must be 1 or more",
		                req->cores_per_rank);
	if (req->ranks_per_core < 0 || req->ranks_per_socket < 0)
		return cpl_fail(err,
		                "%d ranks per core, %d per socket; they must "
		                "be 0 (no limit) or more",
		                req->ranks_per_core, req->ranks_per_socket);
	return 0;
}

static int check_capacity(const struct cpl_bind_request *req,
                          const struct cpl_tree *tree, struct cpl_error *err)
{
	if (req->comm->ranks <= tree->n_slots)
		return 0;
	return cpl_fail(err,
	                "%d ranks do not fit; the allowed CPUs have room "
	                "for %d (%d %s each)",
	                req->comm->ranks, tree->n_slots, req->cores_per_rank,
	                req->by_pu ? "CPUs" : "cores");
}

/* Memory of GPUs is nothing for a rank's own, unless there is no other. */
static void drop_gpu_memory(hwloc_topology_t topology, hwloc_nodeset_t nodes)
{
	hwloc_obj_t node = NULL;

	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE,
	                                          node)))
		if (node->subtype && !strcmp(node->subtype, "GPUMemory") &&
		    hwloc_bitmap_weight(nodes) > 1)
			hwloc_bitmap_clr(nodes, node->os_index);
}

static int fill_sets(const struct cpl_slots *slots,
                     const struct cpl_bind_request *req, const int *slot,
                     struct cpl_bind_result *out, struct cpl_error *err)
{
	int ranks = req->comm->ranks;

	out->cpuset = calloc((size_t)ranks + 1, sizeof(*out->cpuset));
	out->nodeset = calloc((size_t)ranks + 1, sizeof(*out->nodeset));
	if (!out->cpuset || !out->nodeset)
		return cpl_fail_memory(err);
	for (int r = 0; r < ranks; r++) {
		out->ranks = r + 1;
		out->cpuset[r] = hwloc_bitmap_dup(slots->cpuset[slot[r]]);
		out->nodeset[r] = hwloc_bitmap_alloc();
		if (!out->cpuset[r] || !out->nodeset[r] ||
		    hwloc_cpuset_to_nodeset(req->topology, out->cpuset[r],
		                            out->nodeset[r]) < 0)
			return cpl_fail_memory(err);
		drop_gpu_memory(req->topology, out->nodeset[r]);
	}
	return 0;
}

static int fill_levels(const struct cpl_slots *slots,
                       const struct cpl_comm *graph, const int *slot,
                       struct cpl_bind_result *out, struct cpl_error *err)
{
	const struct cpl_tree *tree = &slots->tree;

	out->level = calloc((size_t)tree->n_levels + 1, sizeof(*out->level));
	if (!out->level)
		return cpl_fail_memory(err);
	out->n_levels = tree->n_levels;
	for (int l = 0; l < tree->n_levels; l++) {
		memcpy(out->level[l].name, slots->name[l],
		       sizeof(slots->name[l]));
		out->level[l].distance = 2 * (tree->n_levels - l);
	}
	for (int i = 0; i < graph->ranks; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++) {
			int d = cpl_tree_distance(tree, slot[i],
			                          slot[graph->to[e]]);
			struct cpl_bind_level *l;

			if (graph->to[e] <= i || d == 0)
				continue;
			l = &out->level[tree->n_levels - d / 2];
			l->bytes += graph->bytes[e];
			l->messages += graph->messages[e];
		}
	return 0;
}

static int bind_on(const struct cpl_binder *binder,
                   const struct cpl_bind_request *req, bool guard,
                   const struct cpl_slots *slots, struct cpl_comm *graph,
                   struct cpl_bind_result *out, struct cpl_error *err)
{
	const struct cpl_tree *tree = &slots->tree;
	struct cpl_bind_problem problem = {req, slots, tree, graph};
	int ranks = graph->ranks, rc = -1;
	struct cpl_arena arena = {0};
	unsigned char *table = NULL;
	unsigned char *taken = cpl_arena_take(&arena, tree->n_slots, 1);
	int *slot = cpl_arena_take(&arena, ranks, sizeof(*slot));
	int *packed = cpl_arena_take(&arena, ranks, sizeof(*packed));
	double *metric =
	        cpl_arena_take(&arena, graph->n_entries, sizeof(*metric));
	double *bytes = graph->bytes;

	if (arena.failed)
		goto done;
	for (int64_t e = 0; e < graph->n_entries; e++)
		metric[e] = weight(req->metric, bytes[e], graph->messages[e]);
	for (int r = 0; r < ranks; r++)
		packed[r] = r;
	graph->bytes = metric;
	if (cpl_near_table(req, slots, &table, err) < 0 ||
	    cpl_near_repair(tree, ranks, table, packed, err) < 0 ||
	    binder->bind(&problem, slot, err) < 0)
		goto done;
	if (check_slots(slot, ranks, tree->n_slots, taken) < 0) {
		cpl_fail(err, "%s gave two ranks one core", binder->name);
		goto done;
	}
	out->n_far = cpl_near_repair(tree, ranks, table, slot, err);
	if (out->n_far < 0)
		goto done;
	out->cost = cpl_tree_cost(tree, graph, slot);
	out->cost_default = cpl_tree_cost(tree, graph, packed);
	if (guard && !(out->cost < out->cost_default)) {
		memcpy(slot, packed, (size_t)ranks * sizeof(*slot));
		out->cost = out->cost_default;
	}
	graph->bytes = bytes;
	if (fill_sets(slots, req, slot, out, err) == 0)
		rc = fill_levels(slots, graph, slot, out, err);
done:
	graph->bytes = bytes;
	free(table);
	return cpl_arena_end(&arena, rc, err);
}

static int bind_request(const struct cpl_binder *binder,
                        const struct cpl_bind_request *req, bool guard,
                        struct cpl_bind_result *out, struct cpl_error *err)
{
	struct cpl_slots *slots = NULL;
	struct cpl_comm *graph = NULL;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	if (check_request(req, err) < 0)
		return -1;
	slots = cpl_slots_new(req, !binder->orders_cores, err);
	if (!slots || check_capacity(req, &slots->tree, err) < 0)
		goto done;
	graph = cpl_comm_symmetric(req->comm, err);
	if (graph)
		rc = bind_on(binder, req, guard, slots, graph, out, err);
done:
	if (rc < 0)
		cpl_bind_result_free(out);
	cpl_comm_free(graph);
	cpl_slots_free(slots);
	return rc;
}

int cpl_bind(const struct cpl_binder *binder,
             const struct cpl_bind_request *req, struct cpl_bind_result *out,
             struct cpl_error *err)
{
	return bind_request(binder, req, true, out, err);
}

int cpl_bind_as_is(const struct cpl_binder *binder,
                   const struct cpl_bind_request *req,
                   struct cpl_bind_result *out, struct cpl_error *err)
{
	return bind_request(binder, req, false, out, err);
}

void cpl_bind_result_free(struct cpl_bind_result *result)
{
	for (int r = 0; r < result->ranks; r++) {
		hwloc_bitmap_free(result->cpuset[r]);
		hwloc_bitmap_free(result->nodeset[r]);
	}
	cpl_free_all(result->cpuset, result->nodeset, result->level);
	memset(result, 0, sizeof(*result));
}
