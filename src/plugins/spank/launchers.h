/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In slurmstepd: the order of a job's ranks for launchers other than srun
 * (mapping/rank_order.h), as files of the user and in variables. Whatever fails
 * leaves the step without them.
 */
#ifndef CPL_PLUGINS_SPANK_LAUNCHERS_H
#define CPL_PLUGINS_SPANK_LAUNCHERS_H

#include <slurm/spank.h>

/*
 * With the user's rights, on the first node of a step: where the job has a plan
 * that is of its hosts, and no files of an outer step, make the files and set
 * COMMPLACE_HOSTFILE, COMMPLACE_RANKFILE, COMMPLACE_MACHINEFILE,
 * COMMPLACE_RANK_ORDER (their paths) and COMMPLACE_NODES; no rankfile, and a line
 * in the log, where SLURM_JOB_CPUS_PER_NODE has fewer CPUs of a host than its ranks
 * take (SLURM_CPUS_PER_TASK each). A plan that is not, or has more than 65,535
 * ranks for a host, is taken away with all of these. Likewise for each component
 * of a heterogeneous job, with _HET_GROUP_N behind the names.
 */
void cplspank_launchers_make(spank_t sp);

/* With the user's rights, in a task: COMMPLACE_NODE_RANK, the place of its node
 * in COMMPLACE_NODES where each node has consecutive ranks; else unset. And a plan
 * that takes several variables is taken away. */
void cplspank_launchers_task(spank_t sp);

/* As root, at the end of the step: remove what was made, with the user's rights
 * on files. */
void cplspank_launchers_remove(void);

#endif
