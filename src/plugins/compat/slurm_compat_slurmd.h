/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's structures inside slurmd and slurmstepd, for the task plugin. */
#ifndef CPL_COMPAT_SLURM_COMPAT_SLURMD_H
#define CPL_COMPAT_SLURM_COMPAT_SLURMD_H

#include "slurm_compat.h"

#include <stdbool.h>

#include "src/common/list.h"
#if CPLSLURM_SERIES < 2302
#include "src/common/cgroup.h"
#include "src/common/gres.h"
#include "src/common/select.h"
#include "src/common/slurm_cred.h"
#else
#include "src/interfaces/cgroup.h"
#include "src/interfaces/cred.h"
#include "src/interfaces/gres.h"
#include "src/interfaces/select.h"
#endif
#include "src/slurmd/slurmd/slurmd.h"
#include "src/slurmd/slurmstepd/slurmstepd_job.h"

/* Gone in 24.05. */
#if CPLSLURM_SERIES >= 2405
#define CPU_BIND_RANK 0
#endif

/* Of switch/commplace, which has no other use of its number and its mark. */
#define CPLSLURM_SWITCH_ID 0x4350
#define CPLSLURM_SWITCH_MAGIC 0x43505349

/* What Slurm hands switch/commplace back: of a job, or of a step. */
struct cplslurm_switch {
	uint32_t magic, size;
	void *data;   /* ours, malloc(); NULL: none */
	void *theirs; /* the wrapped plugin's; NULL: none */
};

/* What slurmctld sent along with a launch; false: nothing, or not to be had in
 * this process. */
bool cplslurm_sent(const launch_tasks_request_msg_t *req,
                   struct cplslurm_excerpt *out);
/* Drop it, where slurmd hands it on. */
void cplslurm_sent_drop(launch_tasks_request_msg_t *req);
/* Whose step is launched. */
void cplslurm_launch_user(const launch_tasks_request_msg_t *req, uint32_t *uid,
                          uint32_t *gid);

extern slurmd_conf_t *conf __attribute__((weak));

/*
 * From a plugin's init(): call start in the process that slurmd becomes, where
 * threads may be made: slurmd loads its plugins before it goes into the
 * background. Not called in slurmstepd and other programs.
 */
void cplslurm_when_daemon(void (*start)(void));

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
int cplslurm_gpus(const launch_tasks_request_msg_t *req, uint32_t node_id,
                  struct cplslurm_gpus *out);
void cplslurm_gpus_free(struct cplslurm_gpus *gpus);

#endif
