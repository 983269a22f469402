/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that would hold slurmctld for ever. Slurm counts a node's tasks in 16
 * bits when it lays them out, and with -m plane it goes on dealing until the
 * sum of these is the number of tasks: a node of more than 65,535 makes that
 * never so (_task_layout_plane() of every series). From 26.05 on slurmctld lays
 * a job out when it starts, others do so for a step.
 */
#ifndef CPL_COMPAT_SUBMIT_PLANES_H
#define CPL_COMPAT_SUBMIT_PLANES_H

#include "slurm_compat_ctld.h"

/* What is said of one, 0 included. */
#define CPLSLURM_PLANES_SAID 512

/*
 * Could that happen to the job? record: of one that is to be changed, with its
 * details, NULL at submission; of a change that has nothing to do with it:
 * false. As the job's nodes are not known yet it is asked of the fewest that it
 * may have, with the most CPUs that Linux has. said: why not, and what to do.
 * O(1).
 */
bool cplslurm_planes_never_end(const job_desc_msg_t *job,
                               const job_record_t *record,
                               char said[CPLSLURM_PLANES_SAID]);

#endif
