/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These jobs would hold slurmctld for ever. Slurm counts a node's tasks in 16 bits
 * when it lays them out, and with -m plane it goes on dealing until they sum up to
 * the number of tasks, which a node of more than 65,535 makes impossible
 * (_task_layout_plane() of every series). From 26.05 on slurmctld lays a job out
 * when it starts, earlier series do so for a step. */
#pragma once

#include "slurm_compat_ctld.h"

/* So many bytes are said of one, the 0 included. */
#define CPLSLURM_PLANES_SAID 512

/* Tell whether that could happen to the job. record is that of a job that is to be
 * changed, with its details, or NULL at submission; for a change that has nothing to
 * do with it the answer is false. As the job's nodes are not known yet, it is asked
 * of the fewest that it may have, with the most CPUs that Linux has. said tells why
 * not, and what to do. O(1). */
bool cplslurm_planes_never_end(const job_desc_msg_t *job,
                               const job_record_t *record,
                               char said[CPLSLURM_PLANES_SAID]);
