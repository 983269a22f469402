/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding.h"

#include <stdlib.h>

/* GPUs are PCI display controllers and processing accelerators. */
static bool is_gpu(hwloc_obj_t device)
{
	int base = device->attr->pcidev.class_id >> 8;

	return base == 0x03 || base == 0x12;
}

struct gpu {
	unsigned long address;
	hwloc_const_cpuset_t near;
};

static int by_address(const void *a, const void *b)
{
	const struct gpu *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

int cpl_topology_gpus(hwloc_topology_t topology, hwloc_const_cpuset_t **near,
                      struct cpl_error *err)
{
	int most = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PCI_DEVICE);
	size_t n_devices = most > 0 ? (size_t)most : 1;
	struct gpu *gpu = calloc(n_devices, sizeof(*gpu));
	hwloc_obj_t device = NULL;
	int n = 0;

	*near = calloc(n_devices, sizeof(**near));
	if (!gpu || !*near) {
		free(gpu);
		free(*near);
		*near = NULL;
		return cpl_fail_memory(err);
	}
	while ((device = hwloc_get_next_pcidev(topology, device)) && n < most) {
		const struct hwloc_pcidev_attr_s *a = &device->attr->pcidev;
		hwloc_obj_t above;

		if (!is_gpu(device))
			continue;
		above = hwloc_get_non_io_ancestor_obj(topology, device);
		gpu[n].address = (unsigned long)a->domain << 16 |
		                 (unsigned long)a->bus << 8 |
		                 (unsigned long)a->dev << 3 | a->func;
		gpu[n++].near = above->cpuset;
	}
	qsort(gpu, (size_t)n, sizeof(*gpu), by_address);
	for (int i = 0; i < n; i++)
		(*near)[i] = gpu[i].near;
	free(gpu);
	return n;
}
