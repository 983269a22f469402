/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"

/* The allowed cores (by_pu: PUs), and how they are cut into slots. */
struct cut {
	const struct cpl_bind_request *req;
	int unit_depth, per_slot;
	hwloc_obj_t *unit;
	int n_units;
	int *kept; /* depths of the levels */
	int n_kept;
	int *slot; /* first unit of each */
	int n_slots;
	int per_domain; /* most slots of a memory domain; 0: no limit */
};

static hwloc_obj_t ancestor_at(hwloc_obj_t obj, int depth)
{
	while (obj->depth > depth && obj->parent)
		obj = obj->parent;
	return obj;
}

static hwloc_obj_t ancestor_of_type(hwloc_obj_t obj, hwloc_obj_type_t type)
{
	while (obj && obj->type != type)
		obj = obj->parent;
	return obj;
}

/* Nested levels are the same partition when they have as many classes. */
static int count_classes(const hwloc_obj_t *unit, int n, int depth)
{
	int classes = 0;

	for (int i = 0; i < n; i++)
		classes += i == 0 || ancestor_at(unit[i], depth) !=
		                             ancestor_at(unit[i - 1], depth);
	return classes;
}

/* Chooses the units that the request may use; levels were found on all. */
static void choose_units(struct cut *c, int n_all)
{
	const struct cpl_bind_request *req = c->req;
	int64_t per_core =
	        req->by_pu ? (int64_t)req->ranks_per_core * c->per_slot : 0;
	hwloc_obj_t last = NULL;
	int in_core = 0;

	if (req->by_pu && req->one_thread)
		per_core = 1;
	for (int i = 0; i < n_all; i++) {
		hwloc_obj_t core;

		if (req->allowed &&
		    !hwloc_bitmap_intersects(c->unit[i]->cpuset, req->allowed))
			continue;
		core = ancestor_of_type(c->unit[i], HWLOC_OBJ_CORE);
		if (!core || core != last)
			in_core = 0;
		last = core;
		if (per_core && ++in_core > per_core)
			continue;
		c->unit[c->n_units++] = c->unit[i];
	}
}

static bool same_memory(hwloc_obj_t a, hwloc_obj_t b)
{
	return a && b &&
	       (!a->nodeset || !b->nodeset ||
	        hwloc_bitmap_isequal(a->nodeset, b->nodeset));
}

/* Cuts slots that do not span two objects at the depth; -1: they may. */
static void cut_slots(struct cut *c, int depth)
{
	int in_socket = 0, in_domain = 0;
	hwloc_obj_t socket = NULL, last = NULL;

	c->n_slots = 0;
	for (int i = 0; i + c->per_slot <= c->n_units;) {
		hwloc_obj_t first = c->unit[i], own;
		int k = 1;

		while (k < c->per_slot &&
		       (depth < 0 || ancestor_at(c->unit[i + k], depth) ==
		                             ancestor_at(first, depth)))
			k++;
		if (k < c->per_slot) {
			i += k;
			continue;
		}
		own = ancestor_of_type(first, HWLOC_OBJ_PACKAGE);
		if (own != socket)
			in_socket = 0;
		socket = own;
		if (!same_memory(last, first))
			in_domain = 0;
		last = first;
		if ((!c->per_domain || in_domain < c->per_domain) &&
		    (!c->req->ranks_per_socket ||
		     in_socket++ < c->req->ranks_per_socket)) {
			c->slot[c->n_slots++] = i;
			in_domain++;
		}
		i += k;
	}
}

/* Leaves as few slots in each memory domain as together hold the ranks. */
static void spread_slots(struct cut *c, int depth)
{
	int ranks = c->req->comm ? c->req->comm->ranks : 0, domains = 0;

	if (c->req->fill_domains || c->req->near || c->n_slots <= ranks)
		return;
	for (int s = 0; s < c->n_slots; s++)
		domains += !s || !same_memory(c->unit[c->slot[s - 1]],
		                              c->unit[c->slot[s]]);
	if (domains < 2 || !ranks)
		return;
	c->per_domain = (ranks + domains - 1) / domains - 1;
	do {
		c->per_domain++;
		cut_slots(c, depth);
	} while (c->n_slots < ranks);
}

static int choose_slots(struct cut *c, bool spread, struct cpl_error *err)
{
	int need =
	        c->req->comm && !c->req->overcommit ? c->req->comm->ranks : 1;
	/* With SMT slots should not span cores either. */
	int d = c->per_slot > 1 ? c->unit_depth - 1 : -1;

	for (; d >= 0; d--) {
		cut_slots(c, d);
		if (c->n_slots >= need)
			break;
	}
	if (d < 0)
		cut_slots(c, -1);
	if (spread)
		spread_slots(c, d);
	if (c->n_slots)
		return 0;
	if (c->n_units == 0)
		return cpl_fail(err, "none of the allowed CPUs is in the "
		                     "topology");
	return cpl_fail(err, "%d %s per rank asked for, %d are allowed",
	                c->per_slot, c->req->by_pu ? "CPUs" : "cores",
	                c->n_units);
}

/* The ranks on a slot when n_ranks share the slots evenly. */
static int ranks_on(const struct cut *c, int n_ranks, int slot)
{
	return n_ranks / c->n_slots + (slot < n_ranks % c->n_slots);
}

/* Groups that only stand for memory are named after it. */
static void name_level(hwloc_topology_t topology, int depth, char *name,
                       size_t size)
{
	hwloc_obj_t object = hwloc_get_obj_by_depth(topology, depth, 0);

	if (object->type == HWLOC_OBJ_GROUP && object->memory_arity)
		object = object->memory_first_child;
	hwloc_obj_type_snprintf(name, size, object, 0);
}

static void fill_level(struct cpl_slots *slots, int level, const struct cut *c)
{
	struct cpl_tree *tree = &slots->tree;
	int *object = tree->object + (size_t)level * tree->n_slots;
	hwloc_obj_t last = NULL;
	int n = 0, at = 0;

	for (int s = 0; s < c->n_slots; s++) {
		const hwloc_obj_t *unit = c->unit + c->slot[s];
		hwloc_obj_t key = NULL;

		if (level < c->n_kept)
			key = ancestor_at(unit[0], c->kept[level]);
		for (int i = 1; key && i < c->per_slot; i++)
			if (ancestor_at(unit[i], c->kept[level]) != key)
				key = NULL;
		n += s == 0 || !key || key != last;
		for (int k = ranks_on(c, tree->n_slots, s); k > 0; k--)
			object[at++] = n - 1;
		last = key;
	}
	tree->n_objects[level] = n;
	if (level < c->n_kept)
		name_level(c->req->topology, c->kept[level], slots->name[level],
		           sizeof(slots->name[level]));
	else
		strcpy(slots->name[level], "CPU set");
}

static hwloc_cpuset_t slot_cpus(const struct cut *c, int slot)
{
	hwloc_cpuset_t set = hwloc_bitmap_alloc();
	int rc = set ? 0 : -1;

	for (int i = 0; rc == 0 && i < c->per_slot; i++) {
		hwloc_obj_t unit = c->unit[c->slot[slot] + i];
		hwloc_cpuset_t own = hwloc_bitmap_dup(unit->cpuset);

		rc = own ? 0 : -1;
		if (rc == 0 && c->req->allowed)
			rc = hwloc_bitmap_and(own, own, c->req->allowed);
		if (rc == 0 && c->req->one_thread)
			rc = hwloc_bitmap_singlify(own);
		if (rc == 0)
			rc = hwloc_bitmap_or(set, set, own);
		hwloc_bitmap_free(own);
	}
	if (rc == 0)
		return set;
	hwloc_bitmap_free(set);
	return NULL;
}

static int fill_cpus(struct cpl_slots *slots, const struct cut *c,
                     struct cpl_error *err)
{
	int at = 0;

	for (int s = 0; s < c->n_slots; s++)
		for (int k = ranks_on(c, slots->tree.n_slots, s); k > 0; k--) {
			slots->cpuset[at] = slot_cpus(c, s);
			if (!slots->cpuset[at++])
				return cpl_fail_memory(err);
		}
	return 0;
}

static int find_socket_level(const struct cut *c)
{
	int depth = hwloc_get_type_depth(c->req->topology, HWLOC_OBJ_PACKAGE);

	for (int l = 1; l < c->n_kept; l++)
		if (depth >= 0 && c->kept[l] == depth)
			return l;
	/* One package has its lowest branching level, such as L3s. */
	return c->n_kept - 1;
}

static int fill(struct cpl_slots *slots, const struct cut *c,
                struct cpl_error *err)
{
	int ranks = c->req->comm ? c->req->comm->ranks : 0;
	bool shared = c->req->overcommit && ranks > c->n_slots;
	int n = shared ? ranks : c->n_slots, n_levels = c->n_kept + shared;

	if (cpl_tree_init(&slots->tree, n, n_levels, err))
		return -1;
	slots->cpuset = calloc((size_t)n, sizeof(*slots->cpuset));
	slots->name = calloc((size_t)n_levels + 1, sizeof(*slots->name));
	if (!slots->cpuset || !slots->name)
		return cpl_fail_memory(err);
	if (fill_cpus(slots, c, err) < 0)
		return -1;
	for (int l = 0; l < n_levels; l++)
		fill_level(slots, l, c);
	slots->socket_level = find_socket_level(c);
	return 0;
}

struct cpl_slots *cpl_slots_new(const struct cpl_bind_request *req, bool spread,
                                struct cpl_error *err)
{
	hwloc_topology_t topology = req->topology;
	struct cut c = {.req = req, .per_slot = req->cores_per_rank};
	struct cpl_slots *slots = calloc(1, sizeof(*slots));
	struct cpl_arena arena = {0};
	int n_all, classes = 0, rc = -1;

	c.unit_depth = hwloc_get_type_or_below_depth(
	        topology, req->by_pu ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE);
	n_all = (int)hwloc_get_nbobjs_by_depth(topology, c.unit_depth);
	c.unit = cpl_arena_take(&arena, n_all, sizeof(*c.unit));
	c.slot = cpl_arena_take(&arena, n_all, sizeof(*c.slot));
	c.kept = cpl_arena_take(&arena, c.unit_depth, sizeof(*c.kept));
	if (!slots || arena.failed) {
		arena.failed = true;
		goto out;
	}
	for (int i = 0; i < n_all; i++)
		c.unit[i] = hwloc_get_obj_by_depth(topology, c.unit_depth,
		                                   (unsigned)i);
	for (int d = 0; d < c.unit_depth; d++) {
		int n = count_classes(c.unit, n_all, d);

		if (n > classes && n < n_all) {
			c.kept[c.n_kept++] = d;
			classes = n;
		}
	}
	choose_units(&c, n_all);
	if (choose_slots(&c, spread, err) == 0)
		rc = fill(slots, &c, err);
out:
	if (!cpl_arena_end(&arena, rc, err))
		return slots;
	cpl_slots_free(slots);
	return NULL;
}

void cpl_slots_free(struct cpl_slots *slots)
{
	if (!slots)
		return;
	for (int s = 0; slots->cpuset && s < slots->tree.n_slots; s++)
		hwloc_bitmap_free(slots->cpuset[s]);
	cpl_free_all(slots->cpuset, slots->name);
	cpl_tree_free(&slots->tree);
	free(slots);
}
