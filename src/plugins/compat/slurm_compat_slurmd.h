/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are Slurm's structures inside slurmd and slurmstepd, below slurmd.h. */
#pragma once

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

/* layout_fields.h names it so. */
typedef struct job_option_info job_option_info_t;

/* Slurm has no such bit from 24.05 on. */
#if CPLSLURM_SERIES >= 2405
#define CPU_BIND_RANK 0
#endif

/* switch/commplace has this number and this mark, and no other use of them. */
#define CPLSLURM_SWITCH_ID 0x4350
#define CPLSLURM_SWITCH_MAGIC 0x43505349

/* Slurm hands this back to switch/commplace for a job or for a step. */
struct cplslurm_switch {
	uint32_t magic, size;
	void *data;   /* It is ours by malloc(), or NULL. */
	void *theirs; /* It is the wrapped plugin's, or NULL. */
};

/* Drop what slurmctld sent, where slurmd hands the request on. */
void cplslurm_sent_drop(launch_tasks_request_msg_t *req);

/* Fill out with the request as the rooms above have it. Return false where it has no
 * ranks of its own here. */
bool cplslurm_launch(const launch_tasks_request_msg_t *req, uint32_t node_id,
                     struct cplslurm_launch *out);
/* Return only the step, or its user, of any request. */
struct cplslurm_step_id cplslurm_step_id(const slurm_step_id_t *id);
void cplslurm_launch_user(const launch_tasks_request_msg_t *req, uint32_t *uid,
                          uint32_t *gid);

extern slurmd_conf_t *conf __attribute__((weak));
