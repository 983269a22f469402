/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct cpl_binder *const binders[] = {
        &cpl_binder_packed,
        &cpl_binder_treematch,
        NULL,
};

const struct cpl_binder *const *cpl_binder_all(void)
{
	return binders;
}

const struct cpl_binder *cpl_binder_find(const char *name,
                                         struct cpl_error *err)
{
	char names[128] = "";
	size_t used = 0;

	if (!strcmp(name, "default"))
		return &cpl_binder_packed;
	for (int i = 0; binders[i]; i++) {
		size_t len = strlen(binders[i]->name);

		if (!strcmp(name, binders[i]->name))
			return binders[i];
		if (used + len + 3 > sizeof(names))
			continue;
		if (used) {
			memcpy(names + used, ", ", 3);
			used += 2;
		}
		memcpy(names + used, binders[i]->name, len + 1);
		used += len;
	}
	cpl_fail(err, "no binding algorithm \"%s\"; there are: %s", name,
	         names);
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

int cpl_bind(const struct cpl_binder *binder,
             const struct cpl_bind_request *req, struct cpl_bind_result *out,
             struct cpl_error *err)
{
	int ranks = req->comm->ranks, rc = -1;
	struct cpl_slot_tree *tree = NULL;
	struct cpl_comm *graph = NULL;
	unsigned char *taken = NULL;
	int *slot = NULL, *packed = NULL;

	memset(out, 0, sizeof(*out));
	if (req->cores_per_rank < 1)
		return cpl_fail(err, "%d cores per rank; 1 or more are right",
		                req->cores_per_rank);
	tree = cpl_slot_tree_new(req, err);
	if (!tree)
		goto done;
	if (ranks > tree->n_slots) {
		cpl_fail(err,
		         "%d ranks do not fit; the allowed CPUs have room "
		         "for %d (%d %s each)",
		         ranks, tree->n_slots, req->cores_per_rank,
		         req->by_pu ? "CPUs" : "cores");
		goto done;
	}
	graph = cpl_comm_symmetric(req->comm, err);
	if (!graph)
		goto done;
	slot = calloc((size_t)ranks + 1, sizeof(*slot));
	packed = calloc((size_t)ranks + 1, sizeof(*packed));
	taken = calloc((size_t)tree->n_slots, 1);
	out->cpuset = calloc((size_t)ranks + 1, sizeof(*out->cpuset));
	if (!slot || !packed || !taken || !out->cpuset) {
		cpl_fail_memory(err);
		goto done;
	}
	for (int r = 0; r < ranks; r++)
		packed[r] = r;
	if (binder->bind(req, tree->n_slots, slot, err) < 0)
		goto done;
	if (check_slots(slot, ranks, tree->n_slots, taken) < 0) {
		cpl_fail(err, "%s gave two ranks one core", binder->name);
		goto done;
	}
	out->cost = cpl_slot_cost(tree, graph, slot);
	out->cost_default = cpl_slot_cost(tree, graph, packed);
	if (!(out->cost < out->cost_default)) {
		memcpy(slot, packed, (size_t)ranks * sizeof(*slot));
		out->cost = out->cost_default;
	}
	for (int r = 0; r < ranks; r++) {
		out->cpuset[r] = hwloc_bitmap_dup(tree->cpuset[slot[r]]);
		if (!out->cpuset[r]) {
			cpl_fail_memory(err);
			goto done;
		}
		out->ranks = r + 1;
	}
	rc = 0;

done:
	if (rc < 0)
		cpl_bind_result_free(out);
	free(taken);
	free(packed);
	free(slot);
	cpl_comm_free(graph);
	cpl_slot_tree_free(tree);
	return rc;
}

void cpl_bind_result_free(struct cpl_bind_result *result)
{
	for (int r = 0; r < result->ranks; r++)
		hwloc_bitmap_free(result->cpuset[r]);
	free(result->cpuset);
	memset(result, 0, sizeof(*result));
}
