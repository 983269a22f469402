/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "task_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cpl_devices devices;
static bool known; /* They were read, with or without success. */

/* The hardware tree for plans has no devices, so this loads another, once. */
static void find_devices(void)
{
	hwloc_topology_t tree;

	if (known)
		return;
	known = true;
	if (cpl_topology_machine(true, &tree, NULL))
		return;
	cpl_devices_find(tree, &devices, NULL);
	hwloc_topology_destroy(tree);
}

void cpltask_near_fini(void)
{
	pthread_mutex_lock(&lock);
	cpl_devices_free(&devices);
	known = false;
	pthread_mutex_unlock(&lock);
}

/* Nobody has bound these tasks, so each has all of the step's GPUs here, and
 * takes one by its number. Returns false where their numbers say nothing. */
static bool share_by_number(struct cplslurm_gpus *gpus)
{
	int n = 0;

	for (int i = 0; i < gpus->n; i++)
		n += gpus->bound[i];
	for (int t = 0; t < gpus->n_tasks; t++) {
		bool *row = gpus->bound + t * gpus->n;
		int first, count, at = 0;

		if (!cpl_gpus_by_rank(n, gpus->n_tasks, t, &first, &count))
			return false;
		for (int i = 0; i < gpus->n; i++)
			if (row[i]) {
				row[i] = at >= first && at < first + count;
				at++;
			}
	}
	return true;
}

/* The GPUs' own numbers are taken for those of the bus only where hwloc sees as
 * many as they are counted among. */
static const int *physical_of(const struct cplslurm_gpus *gpus)
{
	return gpus->n_physical == devices.n_gpus ? gpus->physical : NULL;
}

static int near_of_gpus(const struct cpl_bind_request *req,
                        const struct cplslurm_gpus *gpus,
                        struct cpl_gpu_near *out, struct cpl_error *err)
{
	hwloc_bitmap_t *listed = calloc((size_t)gpus->n, sizeof(*listed));
	struct cpl_gpu_use use = {
	        .devices = &devices,
	        .n = gpus->n,
	        .physical = physical_of(gpus),
	        .alike = gpus->alike,
	        .listed = (const hwloc_const_cpuset_t *)listed,
	        .uses = gpus->bound,
	};
	int rc;

	if (!listed)
		return cpl_fail_memory(err);
	for (int i = 0; i < gpus->n; i++)
		if (gpus->cores[i])
			listed[i] = cpltask_cpus_of_cores(gpus->cores[i], NULL);
	rc = cpl_gpus_near(req, &use, out, err);
	for (int i = 0; i < gpus->n; i++)
		hwloc_bitmap_free(listed[i]);
	free(listed);
	return rc;
}

int cpltask_near(const struct cplslurm_launch *launch,
                 const struct cpl_bind_request *req, struct cpl_gpu_near *out,
                 struct cpl_error *err)
{
	struct cplslurm_gpus gpus;
	int rc = cplslurm_gpus(launch, &gpus);

	memset(out, 0, sizeof(*out));
	if (rc < 0)
		return cpl_fail_memory(err);
	if (rc == 0)
		return 0;
	if (gpus.is_free && !share_by_number(&gpus)) {
		cplslurm_gpus_free(&gpus);
		return 0;
	}
	pthread_mutex_lock(&lock);
	find_devices();
	rc = near_of_gpus(req, &gpus, out, err);
	pthread_mutex_unlock(&lock);
	cplslurm_gpus_free(&gpus);
	return rc ? -1 : 1;
}

int cpltask_nics(const struct cpl_gpu_near *near, const char *names, char **out,
                 struct cpl_error *err)
{
	char *text = NULL;
	bool any = false;
	size_t size;
	FILE *list;

	*out = NULL;
	for (int i = 0; i < near->ranks; i++)
		any |= near->nic[i] != NULL;
	if (!names[0] || !any)
		return 0;
	list = open_memstream(&text, &size);
	if (!list)
		return cpl_fail_memory(err);
	fprintf(list, "%s;%s", devices.verbs ? "verbs" : "net", names);
	for (int i = 0; i < near->ranks; i++)
		fprintf(list, ";%s", near->nic[i] ? near->nic[i] : "");
	if (fclose(list)) {
		free(text);
		return cpl_fail_memory(err);
	}
	*out = text;
	return 0;
}

/* The which-th word of "a;b;c", to be freed, or NULL. */
static char *word_of(const char *text, int which, const char *end)
{
	for (; text && which > 0; which--) {
		text = strpbrk(text, end);
		text = text ? text + 1 : NULL;
	}
	return text ? strndup(text, strcspn(text, end)) : NULL;
}

void cpltask_nic_variables(
        const char *nics, int task, bool (*taken)(const char *name, void *arg),
        void (*set)(const char *name, const char *value, void *arg), void *arg)
{
	char *kind = word_of(nics, 0, ";"), *names = word_of(nics, 1, ";");
	char *nic = task < 0 ? NULL : word_of(nics, 2 + task, ";");
	bool more = kind && names && nic && *nic && strcmp(names, "yes") != 0;

	if (nic && *nic)
		set(CPLTASK_NIC, nic, arg);
	for (int i = 0; more; i++) {
		char *name = word_of(names, i, ","), *value = NULL;

		more = name != NULL;
		if (name && cpl_nic_variable_check(name) && !taken(name, arg))
			value = cpl_nic_value(name, nic,
			                      !strcmp(kind, "verbs"));
		if (value)
			set(name, value, arg);
		cpl_free_all(name, value);
	}
	cpl_free_all(kind, names, nic);
}
