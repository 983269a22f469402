/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traffic of one job for the commands that evaluate it: from its matrix,
 * or where that is too large to be stored message by message.
 */
#ifndef CPL_CMD_JOB_TRAFFIC_H
#define CPL_CMD_JOB_TRAFFIC_H

#include "cmd.h"
#include "traffic/workload.h"

struct job_traffic {
	const struct cpl_signature *sig;
	const char *phase;
	int ranks, ranks_per_node, n_nodes;
	struct cpl_rows *rows;
	struct cpl_comm *comm; /* NULL: not stored, unless matrix() made it */
	bool stored;
	struct cpl_hop_count hops; /* of the evaluation */
};

/* The text of --ranks-per-node into *out. Returns an exit code. */
int job_traffic_take_ranks(const struct cmd *self, const char *option,
                           const char *value, int *out);

/* Phase NULL: the whole run. sig and phase must live as long. 0, or -1 with
 * err; close in either case. */
int job_traffic_open(struct job_traffic *job, const struct cpl_signature *sig,
                     const char *phase, int ranks_per_node,
                     struct cpl_error *err);
void job_traffic_close(struct job_traffic *job);

/* The matrix, for searches; NULL with err where it is too large. */
const struct cpl_comm *job_traffic_matrix(struct job_traffic *job,
                                          struct cpl_error *err);

/* The job on node[n_nodes] as a workload takes it; what it puts into hops is
 * job's. */
struct cpl_job job_traffic_on(struct job_traffic *job, const int *node,
                              const struct cpl_routing *routing);

#endif
