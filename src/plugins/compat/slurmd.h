/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is the node, and the launch of a step on it, as slurmd and slurmstepd have
 * them. Only the files below this header know what Slurm's structures hold of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon.h"

/* Slurm's configuration says this of the node. */
struct cplslurm_node {
	const char *name;
	int sockets, cores, threads; /* Cores are per socket, threads per core. */
	int cpus;                    /* Jobs can have so many. */
	int seen;                    /* slurmd's hwloc sees so many CPUs. */
};
struct cplslurm_node cplslurm_node(void);

/* This is a step, and its component of a heterogeneous job (-1: it has none). */
struct cplslurm_step_id {
	uint32_t job, step;
	int64_t component;
};

/* Write the step as Slurm writes it in its logs, and return text. */
#define CPLSLURM_STEP_TEXT 64
const char *cplslurm_step_text(const struct cplslurm_step_id *id,
                               char text[CPLSLURM_STEP_TEXT]);
/* Name its cgroups behind "step_": "0", or "0+1" in a heterogeneous job. */
void cplslurm_step_dir(const struct cplslurm_step_id *id,
                       char text[CPLSLURM_STEP_TEXT]);
/* Read step and component from such a name. Return false where it is none. */
bool cplslurm_step_of_dir(const char *dir, struct cplslurm_step_id *id);
/* Write a string that the title of its slurmstepd's process begins with. */
void cplslurm_step_title(const struct cplslurm_step_id *id,
                         char text[CPLSLURM_STEP_TEXT]);
/* Write its slurmstepd's socket's path. Return 0, or -1 where it has no room. */
int cplslurm_step_socket(const struct cplslurm_step_id *id, char *path,
                         size_t size);
/* Remove what a slurmstepd that was killed has left in slurmd's spool folder:
 * its socket and its hardware tree. */
void cplslurm_step_remove(const struct cplslurm_step_id *id);

/* slurmctld sent this along with a launch (binding/launch.h). */
struct cplslurm_excerpt {
	const void *data;
	uint32_t size;
};

/* This is a step's launch on this node. What it points to is the request's. */
struct cplslurm_launch {
	struct cplslurm_step_id id;
	uint32_t node; /* It is the index among the step's. */
	int ranks, tasks; /* They are the step's, and this node's. */
	const uint32_t *task_id; /* [tasks] */
	/* The step is a part of one over several components of a heterogeneous job.
	 * That one has all_ranks, and this part begins at first_rank. */
	bool is_part;
	uint32_t all_ranks, first_rank;

	uid_t uid;
	gid_t gid;
	const uint32_t *gids; /* [n_gids], groups of its user */
	uint32_t n_gids;

	const char *profile;   /* The step asks for it, unchecked, or it is NULL. */
	const char *partition; /* It is NULL where not known. */
	int cpus_per_task;
	/* They are 0 where not stated. */
	int ranks_per_core, ranks_per_socket;
	bool one_thread; /* At most one of each core is used. */
	bool overcommit;
	bool thread_spec; /* The job has specialised threads. */

	struct cplslurm_excerpt sent; /* Its data is NULL if nothing was. */
	const void *request;          /* It is Slurm's own. */
	/* The launch may wait for files so many milliseconds: slurmd holds locks
	 * over it, but for slurmstepd only its own step waits. */
	int patience;
};

/* Return the node's cores that the step may use here, "0-3", to be freed, or NULL
 * where there are none or memory is out. */
char *cplslurm_allowed_cores(const struct cplslurm_launch *launch);
/* Return the CPUs of such cores by the operating system's numbers, likewise. */
char *cplslurm_cpus_of_cores(const char *cores);

/* These are this node's GPUs in Slurm's order, and which of them tasks may use. */
struct cplslurm_gpus {
	int n;
	char **cores; /* [n], Cores= of gres.conf, "0-3" or NULL */
	/* [n], the place of each among the n_physical that Links= counts, by which
	 * AutoDetect numbers devices and the slices of each, or -1 */
	int *physical, n_physical;
	bool alike; /* They are of one type. */
	int n_tasks;
	bool *bound; /* [n_tasks * n], a row per local task */
	/* Nobody has bound the tasks: each row has all of the step's. */
	bool is_free;
};

/* Tell the GPUs that Slurm will bind each local task of a launch to, by --gpu-bind,
 * --gpus-per-task and --ntasks-per-gpu: with "single" to one after the other of the
 * step's; with "closest" to those nearby, so that the row has all of the step's. GPUs
 * without files have no numbers: unless the step has all, a row has all of the node's.
 * Return 1 with out made, 0 where the step has no GPUs here or --gpu-bind=none, or -1
 * where memory is out. */
int cplslurm_gpus(const struct cplslurm_launch *launch,
                  struct cplslurm_gpus *out);
void cplslurm_gpus_free(struct cplslurm_gpus *gpus);

/* Tell whether this is slurmd itself. */
bool cplslurm_in_slurmd(void);

/* In a plugin's init(), have start called in the process that slurmd becomes, where
 * threads may be made: slurmd loads its plugins before it goes into the background.
 * It is not called in slurmstepd and other programs. */
void cplslurm_when_daemon(void (*start)(void));
