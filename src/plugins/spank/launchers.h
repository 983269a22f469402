/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In slurmstepd, this gives the order of a job's ranks to launchers other than srun
 * (mapping/rank_order.h), as files of the user and in variables. Any failure leaves
 * the step without them. */
#pragma once

#include <slurm/spank.h>

/*
 * This is called with the user's rights, on the first node of a step. If the job
 * has a plan for its hosts, and there are no files of an outer step, it makes the
 * files and sets COMMPLACE_HOSTFILE, COMMPLACE_RANKFILE, COMMPLACE_MACHINEFILE,
 * COMMPLACE_RANK_ORDER (their paths) and COMMPLACE_NODES. There is no rankfile, but
 * a line in the log, if SLURM_JOB_CPUS_PER_NODE has fewer CPUs of a host than its
 * ranks take (SLURM_CPUS_PER_TASK each). A plan for other hosts, or with more than
 * 65,535 ranks for a host, is removed with all of these. The same is done for each
 * component of a heterogeneous job, with _HET_GROUP_N behind the names.
 */
void cplspank_launchers_make(spank_t sp);

/* This is called with the user's rights, in a task. It sets COMMPLACE_NODE_RANK,
 * the position of its node in COMMPLACE_NODES, if each node has consecutive ranks,
 * else unsets it. It also removes a plan that takes several variables. */
void cplspank_launchers_task(spank_t sp);

/* This is called as root, at the end of the step. It removes what was made, with
 * the user's rights on files. */
void cplspank_launchers_remove(void);
