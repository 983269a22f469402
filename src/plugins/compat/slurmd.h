/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The node, and the launch of a step on it, as slurmd and slurmstepd have them.
 * All that Slurm's structures hold of it is known below this header only.
 */
#ifndef CPL_COMPAT_SLURMD_H
#define CPL_COMPAT_SLURMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon.h"

/* What Slurm's configuration says of this node. */
struct cplslurm_node {
	const char *name;
	int sockets, cores, threads; /* cores per socket, threads per core */
	int cpus;                    /* that jobs can have */
	int seen;                    /* CPUs that slurmd's hwloc sees */
};
struct cplslurm_node cplslurm_node(void);

/* A step, and which component of a heterogeneous job's (-1: it has none). */
struct cplslurm_step_id {
	uint32_t job, step;
	int64_t component;
};

/* As Slurm writes it in its logs. */
#define CPLSLURM_STEP_TEXT 64
const char *cplslurm_step_text(const struct cplslurm_step_id *id,
                               char text[CPLSLURM_STEP_TEXT]);
/* The name of its cgroups behind "step_": "0", in a heterogeneous job "0+1". */
void cplslurm_step_dir(const struct cplslurm_step_id *id,
                       char text[CPLSLURM_STEP_TEXT]);
/* What such a name says of step and component. False: it is none. */
bool cplslurm_step_of_dir(const char *dir, struct cplslurm_step_id *id);
/* The title of its slurmstepd's process: a string that it begins with. */
void cplslurm_step_title(const struct cplslurm_step_id *id,
                         char text[CPLSLURM_STEP_TEXT]);
/* The path of its slurmstepd's socket; -1: longer than the room. */
int cplslurm_step_socket(const struct cplslurm_step_id *id, char *path,
                         size_t size);
/* Remove what a slurmstepd that was killed has left in slurmd's spool folder:
 * its socket and its hardware tree. */
void cplslurm_step_remove(const struct cplslurm_step_id *id);

/* What slurmctld sent along with a launch (binding/launch.h). */
struct cplslurm_excerpt {
	const void *data;
	uint32_t size;
};

/* A step's launch on this node. What it points to is the request's. */
struct cplslurm_launch {
	struct cplslurm_step_id id;
	uint32_t node; /* of the step's, from 0 */
	int ranks, tasks; /* of the step, of this node */
	const uint32_t *task_id; /* [tasks] */
	/* The step is a part of one over several components of a heterogeneous
	 * job, of all_ranks, the first of which is first_rank. */
	bool is_part;
	uint32_t all_ranks, first_rank;

	uid_t uid;
	gid_t gid;
	const uint32_t *gids; /* [n_gids], of its user */
	uint32_t n_gids;

	const char *profile;   /* that it asks for, unchecked; NULL */
	const char *partition; /* NULL: not known */
	int cpus_per_task;
	/* 0: not stated. */
	int ranks_per_core, ranks_per_socket;
	bool one_thread; /* of each core, at most */
	bool overcommit;
	bool thread_spec; /* the job has specialised threads */

	struct cplslurm_excerpt sent; /* data NULL: nothing was */
	const void *request;          /* Slurm's */
	/* Milliseconds that it may wait for files: slurmd holds locks over it,
	 * for slurmstepd nobody waits but its own step. */
	int patience;
};

/* Cores of the node that the step may use here, "0-3", to be freed with free();
 * NULL: none, or memory. */
char *cplslurm_allowed_cores(const struct cplslurm_launch *launch);
/* The CPUs of such cores by the numbers of the operating system, likewise. */
char *cplslurm_cpus_of_cores(const char *cores);

/* GPUs of this node in Slurm's order, and which of them tasks may use. */
struct cplslurm_gpus {
	int n;
	char **cores; /* [n] Cores= of gres.conf, "0-3"; NULL: not said */
	int n_tasks;
	bool *bound; /* [n_tasks * n] row per local task */
};

/*
 * The GPUs that Slurm will bind each local task of a launch to, as
 * --gpu-bind, --gpus-per-task and --ntasks-per-gpu say: with "single", to one
 * after the other of the step's; with "closest", to those nearby, so that all
 * of the step's are in the row. 1 and out made; 0: tasks are not bound to
 * GPUs; -1: out of memory.
 */
int cplslurm_gpus(const struct cplslurm_launch *launch,
                  struct cplslurm_gpus *out);
void cplslurm_gpus_free(struct cplslurm_gpus *gpus);

/* Is this slurmd itself? */
bool cplslurm_in_slurmd(void);

/*
 * From a plugin's init(): call start in the process that slurmd becomes, where
 * threads may be made: slurmd loads its plugins before it goes into the
 * background. Not called in slurmstepd and other programs.
 */
void cplslurm_when_daemon(void (*start)(void));

#endif
