/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's structures inside slurmd and slurmstepd, below slurmd.h. */
#ifndef CPL_COMPAT_SLURM_COMPAT_SLURMD_H
#define CPL_COMPAT_SLURM_COMPAT_SLURMD_H

#include "slurm_compat.h"
#include "slurmd.h"

#include "src/common/job_options.h"
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

/* As layout_fields.h names it. */
typedef struct job_option_info job_option_info_t;

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

/* Drop what slurmctld sent, where slurmd hands it on. */
void cplslurm_sent_drop(launch_tasks_request_msg_t *req);

/* A request as the rooms above have it. False: it has no ranks of its own
 * here. */
bool cplslurm_launch(const launch_tasks_request_msg_t *req, uint32_t node_id,
                     struct cplslurm_launch *out);
/* The step and its user only, of any request. */
struct cplslurm_step_id cplslurm_step_id(const slurm_step_id_t *id);
void cplslurm_launch_user(const launch_tasks_request_msg_t *req, uint32_t *uid,
                          uint32_t *gid);

extern slurmd_conf_t *conf __attribute__((weak));

#endif
