/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's structures inside slurmd and slurmstepd, for the task plugin. */
#ifndef CPL_COMPAT_SLURM_COMPAT_SLURMD_H
#define CPL_COMPAT_SLURM_COMPAT_SLURMD_H

#include "slurm_compat.h"

#include <stdbool.h>

#include "src/slurmd/slurmd/slurmd.h"
#include "src/slurmd/slurmstepd/slurmstepd_job.h"

_Static_assert(sizeof(stepd_step_rec_t) == 768, "stepd_step_rec_t");
_Static_assert(sizeof(slurmd_conf_t) == 488, "slurmd_conf_t");

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
