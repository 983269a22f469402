/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPUs and network adapters of a node, and the CPUs and adapter near the
 * GPUs that each rank uses. A rank has a GPU by its place in the machine: where
 * a job got GPUs 4 to 7 and its programs see them as 0 to 3, they are 4 to 7
 * here.
 */
/* Tests: gpus gpus_near in test_gpus. */
#pragma once

#include "binding/binding.h"

#define CPL_NIC_NAME 32

struct cpl_gpu {
	char address[16];    /* on the PCI bus, "0000:1b:00.0" */
	hwloc_cpuset_t near; /* the CPUs that its bus belongs to */
	int nic;             /* the adapter near it; -1: there is none */
};

struct cpl_devices {
	int n_gpus, n_nics;
	/* In the order of the PCI bus. */
	struct cpl_gpu *gpu;
	char (*nic)[CPL_NIC_NAME]; /* "mlx5_0" */
	bool verbs; /* these are devices of verbs, not network interfaces */
};

/*
 * Finds the devices of a topology that has some (an XML file, or
 * cpl_topology_machine with devices). GPUs are PCI display controllers and
 * processing accelerators, without those of the server's console; adapters are
 * devices of verbs, or network interfaces where there are none, with a port
 * that is up if one is.
 *
 * The adapter of a GPU is below the lowest object of the tree (PCI bridge, then
 * the parts of the machine) that has both; if several are, GPUs with the same
 * such object take them in turn, as the rails of a node are wired. Returns 0,
 * or -1 with err. O(GPUs * adapters * depth).
 */
int cpl_devices_find(hwloc_topology_t topology, struct cpl_devices *out,
                     struct cpl_error *err);
void cpl_devices_free(struct cpl_devices *devices);

/* The GPUs of a node in the order of who hands them out (Slurm's gres.conf).
 * Slices of one device (MIG) are GPUs of their own here. */
struct cpl_gpu_use {
	const struct cpl_devices *devices;
	int n;
	/* [n] index among devices->gpu, or -1. NULL, or all -1: their order is
	 * that of the bus if there are as many, or, with alike, so many for
	 * each device. */
	const int *physical;
	bool alike; /* they are of one type */
	/* [n] or NULL: what that one says is near; NULL: it says nothing. */
	const hwloc_const_cpuset_t *listed;
	const bool *uses; /* [ranks * n] the GPUs of each rank */
};

enum cpl_gpu_from {
	CPL_GPU_LISTED, /* by use->listed */
	CPL_GPU_TREE,   /* by the PCI bus in the hwloc tree */
	CPL_GPU_SPLIT,  /* nothing tells GPUs apart: cores are divided evenly in
	                 * the order of the GPUs */
};

struct cpl_gpu_near {
	int ranks;
	enum cpl_gpu_from from;
	hwloc_cpuset_t *near; /* [ranks]; NULL: anywhere */
	char **nic;           /* [ranks] "mlx5_0,mlx5_1"; NULL: not known */
};

/*
 * Finds what is near the GPUs of each rank of req (with all members but near).
 * What is listed comes first. If it is the same for all GPUs, though they are
 * several devices, it tells nothing, and the tree is asked; if that has them
 * all in one place, too, each GPU in use gets its share of the cores: of those
 * listed if the ranks have room there, else of all that are allowed. GPUs of
 * one device share its part. A rank of a GPU whose place is not known may be
 * anywhere. Returns 0, or -1 with err. O(ranks * n + cores * GPUs).
 */
int cpl_gpus_near(const struct cpl_bind_request *req,
                  const struct cpl_gpu_use *use, struct cpl_gpu_near *out,
                  struct cpl_error *err);
void cpl_gpu_near_free(struct cpl_gpu_near *near);

/* Is this a name of a variable that may be set (letters, digits and _, no digit
 * first)? */
bool cpl_nic_variable_check(const char *name);
/* Makes the value of a variable for adapters "mlx5_0,mlx5_1" (verbs: not
 * network interfaces): "mlx5_0:1,mlx5_1:1" for UCX_NET_DEVICES, which counts
 * the ports of devices, "=mlx5_0,mlx5_1" for NCCL_IB_HCA, which else means all
 * names that begin so, and the names themselves for others. Returns text to
 * free(), or NULL when memory is out. */
char *cpl_nic_value(const char *name, const char *nics, bool verbs);

/* Tells which of the `gpus` that a step has on a node a rank takes when nobody
 * has bound them: its own number, as programs of one process per GPU do. Sets
 * *first and *count; false where their number says nothing. */
bool cpl_gpus_by_rank(int gpus, int ranks, int rank, int *first, int *count);
