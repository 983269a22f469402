/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* What is known of each GPU. */
struct gpu_near {
	int device; /* index in devices->gpu, or -1 */
	hwloc_const_cpuset_t listed, tree, near;
	hwloc_cpuset_t share; /* own, or NULL */
};

static void find_devices(const struct cpl_gpu_use *use, struct gpu_near *gpu)
{
	int n = use->n, there = use->devices ? use->devices->n_gpus : 0;
	int each = there > 0 && n % there == 0 ? n / there : 0;
	bool told = false;

	for (int i = 0; use->physical && i < n; i++)
		told |= use->physical[i] >= 0;
	for (int i = 0; i < n; i++) {
		int device = -1;

		if (told)
			device = use->physical[i];
		else if (each == 1 || (each > 1 && use->alike))
			device = i / each;
		if (device >= there)
			device = -1;
		gpu[i].device = device;
		gpu[i].tree =
		        device < 0 ? NULL : use->devices->gpu[device].near;
		gpu[i].listed = use->listed ? use->listed[i] : NULL;
	}
}

static bool is_one_device(const struct gpu_near *gpu, int n)
{
	for (int i = 1; i < n; i++)
		if (gpu[i].device < 0 || gpu[i].device != gpu[0].device)
			return false;
	return true;
}

/* Do the sets say nothing that tells the GPUs apart? */
static bool are_alike(const struct gpu_near *gpu, int n)
{
	for (int i = 1; i < n; i++)
		if (!gpu[i].near != !gpu[0].near ||
		    (gpu[i].near &&
		     !hwloc_bitmap_isequal(gpu[i].near, gpu[0].near)))
			return false;
	return true;
}

static enum cpl_gpu_from choose_sets(struct gpu_near *gpu, int n)
{
	enum cpl_gpu_from from = CPL_GPU_TREE;

	for (int i = 0; i < n; i++) {
		gpu[i].near = gpu[i].listed ? gpu[i].listed : gpu[i].tree;
		if (gpu[i].listed)
			from = CPL_GPU_LISTED;
	}
	if (!are_alike(gpu, n) || n == 1 ||
	    (gpu[0].near && is_one_device(gpu, n)))
		return from;
	for (int i = 0; i < n; i++)
		gpu[i].near = gpu[i].tree;
	return are_alike(gpu, n) ? CPL_GPU_SPLIT : CPL_GPU_TREE;
}

/* The type that ranks are given room in. */
static hwloc_obj_type_t unit_of(const struct cpl_bind_request *req)
{
	bool cores =
	        hwloc_get_nbobjs_by_type(req->topology, HWLOC_OBJ_CORE) > 0;

	return req->by_pu || !cores ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE;
}

static int count_units(const struct cpl_bind_request *req,
                       hwloc_const_cpuset_t pool)
{
	hwloc_obj_t unit = NULL;
	int n = 0;

	while ((unit = hwloc_get_next_obj_by_type(req->topology, unit_of(req),
	                                          unit)))
		n += hwloc_bitmap_intersects(unit->cpuset, pool);
	return n;
}

/* The allowed CPUs, of those in `listed` if the ranks have room there. */
static hwloc_cpuset_t pool_of(const struct cpl_bind_request *req,
                              hwloc_const_cpuset_t listed)
{
	hwloc_cpuset_t pool = hwloc_bitmap_dup(
	        req->allowed
	                ? req->allowed
	                : hwloc_topology_get_topology_cpuset(req->topology));
	hwloc_cpuset_t part = hwloc_bitmap_alloc();

	if (pool && part && listed && !hwloc_bitmap_and(part, pool, listed) &&
	    count_units(req, part) >=
	            (int64_t)req->comm->ranks * req->cores_per_rank)
		hwloc_bitmap_copy(pool, part);
	hwloc_bitmap_free(part);
	return pool;
}

static CPL_SORT_BY(by_device, struct gpu_near *,
                   CPL_KEY((*x)->device, (*y)->device), CPL_KEY(*x, *y))

/* Lists the GPUs in use in the order of the bus, and sets which[] of each to
 * the number of its device among them. Returns how many devices they are. */
static int order_used(const struct cpl_gpu_use *use, int ranks,
                      struct gpu_near *gpu, struct gpu_near **used, int *which,
                      int *n_used)
{
	int n = 0, devices = 0;

	for (int i = 0; i < use->n; i++)
		for (int r = 0; r < ranks; r++)
			if (use->uses[(size_t)r * (size_t)use->n + (size_t)i]) {
				used[n++] = &gpu[i];
				break;
			}
	qsort(used, (size_t)n, sizeof(struct gpu_near *), by_device);
	for (int i = 0; i < n; i++) {
		if (!i || used[i]->device < 0 ||
		    used[i]->device != used[i - 1]->device)
			devices++;
		which[i] = devices - 1;
	}
	*n_used = n;
	return devices;
}

/* The which-th of n even parts of the pool, in the order of the tree. */
static hwloc_cpuset_t share_of(const struct cpl_bind_request *req,
                               hwloc_const_cpuset_t pool, int units, int which,
                               int n)
{
	int64_t low = (int64_t)which * units / n;
	int64_t high = (int64_t)(which + 1) * units / n;
	hwloc_cpuset_t part = hwloc_bitmap_alloc();
	hwloc_obj_t unit = NULL;
	int64_t at = 0;
	int rc = 0;

	high = high > low ? high : low + 1;
	while (part && !rc && at < high &&
	       (unit = hwloc_get_next_obj_by_type(req->topology, unit_of(req),
	                                          unit))) {
		if (!hwloc_bitmap_intersects(unit->cpuset, pool))
			continue;
		if (at++ >= low)
			rc = hwloc_bitmap_or(part, part, unit->cpuset);
	}
	if (rc) {
		hwloc_bitmap_free(part);
		part = NULL;
	}
	return part;
}

static int split_cores(const struct cpl_bind_request *req,
                       const struct cpl_gpu_use *use, struct gpu_near *gpu,
                       struct cpl_error *err)
{
	size_t n = (size_t)use->n;
	struct gpu_near **used = calloc(n + 1, sizeof(struct gpu_near *));
	int *which = calloc(n + 1, sizeof(*which)), n_used = 0, devices, units;
	hwloc_const_cpuset_t said = gpu[0].listed ? gpu[0].listed : gpu[0].tree;
	hwloc_cpuset_t pool = pool_of(req, said);
	int rc = used && which && pool ? 0 : cpl_fail_memory(err);

	if (rc)
		goto done;
	devices = order_used(use, req->comm->ranks, gpu, used, which, &n_used);
	units = count_units(req, pool);
	for (int i = 0; i < n_used && !rc; i++) {
		used[i]->share = share_of(req, pool, units, which[i], devices);
		used[i]->near = used[i]->share;
		if (!used[i]->share)
			rc = cpl_fail_memory(err);
	}
done:
	cpl_free_all(used, which);
	hwloc_bitmap_free(pool);
	return rc;
}

/* All of the CPUs near the GPUs of a rank, or *out stays NULL if it has none or
 * one whose place is not known. */
static int unite(const struct gpu_near *gpu, const bool *uses, int n,
                 hwloc_cpuset_t *out, struct cpl_error *err)
{
	hwloc_cpuset_t set = NULL;

	for (int i = 0; i < n; i++) {
		if (!uses[i])
			continue;
		if (!set)
			set = hwloc_bitmap_alloc();
		if (!set ||
		    (gpu[i].near && hwloc_bitmap_or(set, set, gpu[i].near))) {
			hwloc_bitmap_free(set);
			return cpl_fail_memory(err);
		}
		if (!gpu[i].near) {
			hwloc_bitmap_free(set);
			return 0;
		}
	}
	*out = set;
	return 0;
}

/* The adapters of a rank's GPUs, each once. */
static int list_nics(const struct cpl_devices *devices,
                     const struct gpu_near *gpu, const bool *uses, int n,
                     char **out, struct cpl_error *err)
{
	bool *taken = calloc((size_t)devices->n_nics + 1, sizeof(*taken));
	size_t size, found = 0;
	char *text = NULL;
	FILE *list = open_memstream(&text, &size);
	int rc = -1;

	if (cpl_out_of_memory(!taken || !list, err))
		goto done;
	for (int i = 0; i < n; i++) {
		int nic = uses[i] && gpu[i].device >= 0
		                  ? devices->gpu[gpu[i].device].nic
		                  : -1;

		if (nic < 0 || taken[nic])
			continue;
		taken[nic] = true;
		fprintf(list, "%s%s", found++ ? "," : "", devices->nic[nic]);
	}
	rc = 0;
done:
	if (list && fclose(list) && !rc)
		rc = cpl_fail_memory(err);
	if (!rc && found)
		*out = text;
	else
		free(text);
	free(taken);
	return rc;
}

int cpl_gpus_near(const struct cpl_bind_request *req,
                  const struct cpl_gpu_use *use, struct cpl_gpu_near *out,
                  struct cpl_error *err)
{
	size_t ranks = (size_t)req->comm->ranks, n = (size_t)use->n;
	struct gpu_near *gpu = calloc(n + 1, sizeof(*gpu));
	int rc = -1;

	memset(out, 0, sizeof(*out));
	out->near = calloc(ranks + 1, sizeof(*out->near));
	out->nic = calloc(ranks + 1, sizeof(*out->nic));
	if (cpl_out_of_memory(!gpu || !out->near || !out->nic, err))
		goto done;
	out->ranks = req->comm->ranks;
	find_devices(use, gpu);
	out->from = choose_sets(gpu, use->n);
	rc = out->from == CPL_GPU_SPLIT ? split_cores(req, use, gpu, err) : 0;
	for (size_t r = 0; r < ranks && !rc; r++) {
		const bool *uses = use->uses + r * n;

		rc = unite(gpu, uses, use->n, &out->near[r], err);
		if (!rc && use->devices)
			rc = list_nics(use->devices, gpu, uses, use->n,
			               &out->nic[r], err);
	}
done:
	for (size_t i = 0; gpu && i < n; i++)
		hwloc_bitmap_free(gpu[i].share);
	free(gpu);
	if (rc)
		cpl_gpu_near_free(out);
	return rc;
}

void cpl_gpu_near_free(struct cpl_gpu_near *near)
{
	for (int r = 0; r < near->ranks; r++) {
		hwloc_bitmap_free(near->near[r]);
		free(near->nic[r]);
	}
	cpl_free_all(near->near, near->nic);
	memset(near, 0, sizeof(*near));
}

bool cpl_gpus_by_rank(int gpus, int ranks, int rank, int *first, int *count)
{
	*first = ranks > 1 && gpus > 1 ? rank : 0;
	*count = ranks > 1 ? 1 : gpus;
	return gpus > 0 && (gpus == 1 || ranks == 1 || gpus == ranks);
}
