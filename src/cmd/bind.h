/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared inside bind*.c. */
#pragma once

#include "cmd.h"

#include <stdio.h>

#include "binding/devices.h"

struct bind_job {
	int n_ranks;
	int *rank; /* [n_ranks] of the signature */
	struct cpl_comm *comm;
	hwloc_topology_t topology;
	hwloc_bitmap_t allowed;     /* or NULL */
	/* With --gpus or --gpu-map: */
	bool has_gpus;
	struct cpl_devices devices;
	int n_gpus, *gpu; /* [n_gpus] of devices, in the job's order */
	bool *uses;       /* [n_ranks * n_gpus] */
	struct cpl_gpu_near near;
	const struct cpl_binder *binder;
	struct cpl_bind_request req;
	struct cpl_bind_result result, packed, round_robin;
};

/* Reports: JSON object; masks on one line; tables and the machine as text.
 * Exit codes. */
json_t *bind_json(const struct bind_job *job);
int bind_print_masks(const struct cmd *self, const struct bind_job *job);
int bind_print(const struct cmd *self, const struct bind_job *job);

/* The machine's tree as SVG, its cores with the ranks. 0, or -1 with err. */
int bind_plot(const struct bind_job *job, FILE *out, struct cpl_error *err);

/* Ranks on the CPUs of an object as text ("4", "4,9"), "-" without any and ""
 * when none of its CPUs is allowed. The caller frees it; NULL: memory. */
char *bind_ranks_on(const struct bind_job *job, hwloc_obj_t object);

/* Objects that do not branch, such as private caches, are passed through. */
hwloc_obj_t bind_branching(hwloc_obj_t object);

/* A core, or what stands for one in trees without. */
bool bind_is_core(hwloc_obj_t object);

/*
 * "Package 0, L3 0 (NUMA 1)": such an object with those above that were passed
 * through, and the memory that it has and its parent does not have alone.
 */
void bind_name(hwloc_obj_t object, char *name, size_t size);
