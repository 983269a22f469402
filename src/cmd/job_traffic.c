/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_traffic.h"

#define MAX_RANKS_PER_NODE 65536

int job_traffic_take_ranks(const struct cmd *self, const char *option,
                           const char *value, int *out)
{
	struct cpl_error err = {""};
	int64_t ranks;

	if (cmd_int(option, value, 1, MAX_RANKS_PER_NODE, &ranks, &err))
		return cmd_fail(self, &err);
	*out = (int)ranks;
	return CMD_OK;
}

int job_traffic_open(struct job_traffic *job, const struct cpl_signature *sig,
                     const char *phase, int ranks_per_node,
                     struct cpl_error *err)
{
	*job = (struct job_traffic){.sig = sig,
	                            .phase = phase,
	                            .ranks = sig->ranks,
	                            .ranks_per_node = ranks_per_node,
	                            .stored = cpl_signature_stored(sig)};
	job->n_nodes = (job->ranks - 1) / ranks_per_node + 1;
	job->rows = cpl_rows_new(sig, phase, err);
	if (!job->rows)
		return -1;
	return job->stored && !job_traffic_matrix(job, err) ? -1 : 0;
}

void job_traffic_close(struct job_traffic *job)
{
	cpl_comm_free(job->comm);
	cpl_rows_free(job->rows);
	*job = (struct job_traffic){0};
}

const struct cpl_comm *job_traffic_matrix(struct job_traffic *job,
                                          struct cpl_error *err)
{
	if (!job->comm)
		job->comm = cmd_comm(job->sig, job->phase, err);
	return job->comm;
}

struct cpl_job job_traffic_on(struct job_traffic *job, const int *node,
                              const struct cpl_routing *routing)
{
	return (struct cpl_job){.routing = routing,
	                        .comm = job->stored ? job->comm : NULL,
	                        .rows = job->rows,
	                        .node = node,
	                        .ranks_per_node = job->ranks_per_node,
	                        .hops = &job->hops};
}
