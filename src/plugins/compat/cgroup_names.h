/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm keeps the processes of steps here, below the mount of a hierarchy:
 *
 *   v1   slurm[_NODE]/uid_UID/job_JOB/step_STEP/task_TASK
 *   v2   SLICE/[NODE_]slurmstepd.scope/job_JOB/step_STEP/user/task_TASK
 *
 * NODE is there where a host has several slurmds. SLICE is system.slice, or from
 * 25.11 on CgroupSlice of cgroup.conf. From 26.05 on v2 has the job's SLUID, "s" and
 * 13 letters and digits, in the place of job_JOB. TASK counts tasks of the node in
 * 22.05 and those of the step since.
 */
#pragma once

#define CPLSLURM_CGROUP_V1 "slurm"
#define CPLSLURM_CGROUP_V1_NODE "slurm_%s"
/* These are patterns of glob(3). */
#define CPLSLURM_CGROUP_V2 "*/slurmstepd.scope"
#define CPLSLURM_CGROUP_V2_NODE "*/%s_slurmstepd.scope"

#define CPLSLURM_CGROUP_UID "/uid_"
#define CPLSLURM_CGROUP_JOB "/job_"
#define CPLSLURM_CGROUP_STEP "/step_"
#define CPLSLURM_CGROUP_V1_TASK "/task_"
#define CPLSLURM_CGROUP_V2_TASK "/user/task_"

/* These are patterns of glob(3). */
#define CPLSLURM_CGROUP_NUMBER "[0-9]*"
#define CPLSLURM_CGROUP_SLUID "/s[0-9A-Z]*"
