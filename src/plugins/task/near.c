/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "task_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "binding/binding.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* These are the CPUs next to each GPU that hwloc sees, in PCI order; n_pci < 0
 * means not read yet. */
static hwloc_bitmap_t *pci;
static int n_pci = -1;

/* The hardware tree for plans has no devices, so this loads another. */
static int find_pci(void)
{
	hwloc_topology_t tree = NULL;
	hwloc_const_cpuset_t *near = NULL;
	int n = -1;

	if (n_pci >= 0)
		return 0;
	if (cpl_topology_machine(true, &tree, NULL))
		n = 0;
	else
		n = cpl_topology_gpus(tree, &near, NULL);
	pci = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(hwloc_bitmap_t));
	for (int i = 0; pci && i < n; i++)
		pci[i] = hwloc_bitmap_dup(near[i]);
	n_pci = pci ? n : -1;
	free(near);
	if (tree)
		hwloc_topology_destroy(tree);
	return pci ? 0 : -1;
}

void cpltask_near_fini(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n_pci; i++)
		hwloc_bitmap_free(pci[i]);
	free(pci);
	pci = NULL;
	n_pci = -1;
	pthread_mutex_unlock(&lock);
}

/* What Slurm says comes first, since the numbers of the GPUs are its own. If it
 * says nothing, its order is taken to be that of the PCI bus. */
static hwloc_bitmap_t cpus_near(const struct cplslurm_gpus *gpus, int which)
{
	hwloc_bitmap_t near = NULL;

	if (gpus->cores[which])
		return cpltask_cpus_of_cores(gpus->cores[which], NULL);
	pthread_mutex_lock(&lock);
	if (!find_pci() && n_pci == gpus->n && pci[which])
		near = hwloc_bitmap_dup(pci[which]);
	pthread_mutex_unlock(&lock);
	return near;
}

/* These are the CPUs near any of the task's GPUs, or none if it is not known where
 * one of them is. */
static hwloc_bitmap_t near_of_task(const struct cplslurm_gpus *gpus,
                                   hwloc_bitmap_t *near, int task)
{
	const bool *bound = gpus->bound + task * gpus->n;
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	for (int i = 0; set && i < gpus->n; i++) {
		if (!bound[i])
			continue;
		if (!near[i] || hwloc_bitmap_or(set, set, near[i])) {
			hwloc_bitmap_free(set);
			set = NULL;
		}
	}
	return set;
}

int cpltask_near(const struct cplslurm_launch *launch, hwloc_bitmap_t **out,
                 struct cpl_error *err)
{
	struct cplslurm_gpus gpus;
	hwloc_bitmap_t *near = NULL, *set = NULL;
	int rc = cplslurm_gpus(launch, &gpus);

	*out = NULL;
	if (rc < 0)
		return cpl_fail_memory(err);
	if (rc == 0)
		return 0;
	near = calloc((size_t)gpus.n, sizeof(*near));
	set = calloc((size_t)gpus.n_tasks, sizeof(*set));
	if (!near || !set) {
		free(set);
		rc = cpl_fail_memory(err);
		goto done;
	}
	for (int i = 0; i < gpus.n; i++)
		near[i] = cpus_near(&gpus, i);
	for (int i = 0; i < gpus.n_tasks; i++)
		set[i] = near_of_task(&gpus, near, i);
	*out = set;
	rc = 0;
done:
	cpltask_near_free(near, gpus.n);
	cplslurm_gpus_free(&gpus);
	return rc;
}

void cpltask_near_free(hwloc_bitmap_t *near, int tasks)
{
	for (int i = 0; near && i < tasks; i++)
		hwloc_bitmap_free(near[i]);
	free(near);
}
