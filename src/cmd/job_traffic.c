/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_traffic.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RANKS_PER_NODE 65536

static int open_matrix(struct job_traffic *job, struct cpl_error *err)
{
	if (!job_traffic_matrix(job, err))
		return -1;
	job->work = cpl_traffic_work_new(job->net, job->comm, err);
	if (!job->work)
		return -1;
	job->rank_node = malloc((size_t)job->ranks * sizeof(*job->rank_node));
	return job->rank_node ? 0 : cpl_fail_memory(err);
}

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

int job_traffic_open(struct job_traffic *job, const struct cpl_network *net,
                     const struct cpl_signature *sig, const char *phase,
                     int ranks_per_node, struct cpl_error *err)
{
	memset(job, 0, sizeof(*job));
	job->net = net;
	job->sig = sig;
	job->phase = phase;
	job->ranks = sig->ranks;
	job->ranks_per_node = ranks_per_node;
	job->n_nodes = (job->ranks - 1) / ranks_per_node + 1;
	job->rows = cpl_rows_new(sig, phase, err);
	if (!job->rows)
		return -1;
	return cpl_signature_stored(sig) ? open_matrix(job, err) : 0;
}

void job_traffic_close(struct job_traffic *job)
{
	cpl_comm_free(job->comm);
	cpl_rows_free(job->rows);
	cpl_traffic_work_free(job->work);
	free(job->rank_node);
	memset(job, 0, sizeof(*job));
}

const struct cpl_comm *job_traffic_matrix(struct job_traffic *job,
                                          struct cpl_error *err)
{
	if (!job->comm)
		job->comm = cmd_comm(job->sig, job->phase, err);
	return job->comm;
}

static void seat_ranks(struct job_traffic *job, const int *node)
{
	for (int rank = 0; rank < job->ranks; rank++)
		job->rank_node[rank] = node[rank / job->ranks_per_node];
}

/* A walk over messages takes each node as one seat. */
static int settle(struct job_traffic *job, const int *node,
                  struct cpl_error *err)
{
	unsigned char *seen;
	bool twice = false;

	if (job->work)
		return 0;
	seen = calloc((size_t)job->net->n_nodes, 1);
	if (!seen)
		return cpl_fail_memory(err);
	for (int i = 0; i < job->n_nodes; i++) {
		twice = twice || seen[node[i]];
		seen[node[i]] = 1;
	}
	free(seen);
	return twice && open_matrix(job, err)
	               ? cpl_fail_prefix(err, "hosts that are given twice: ")
	               : 0;
}

int job_traffic_plan(struct job_traffic *job, const int *node, int threads,
                     const struct cpl_routing *routing,
                     struct cpl_workload *workload, struct cpl_error *err)
{
	struct cpl_stream stream = {.rows = job->rows,
	                            .node = node,
	                            .ranks_per_node = job->ranks_per_node,
	                            .threads = threads};

	if (settle(job, node, err))
		return -1;
	if (!job->work)
		return cpl_workload_add_stream(workload, routing, &stream, err);
	seat_ranks(job, node);
	return cpl_workload_add(workload, routing, job->comm, job->rank_node,
	                        err);
}

int job_traffic_add(struct job_traffic *job, const int *node, int threads,
                    int n, const struct cpl_routing *const *routing,
                    struct cpl_load *const *load, struct cpl_job_sums *sums,
                    struct cpl_error *err)
{
	struct cpl_stream stream = {.rows = job->rows,
	                            .node = node,
	                            .ranks_per_node = job->ranks_per_node,
	                            .threads = threads};

	if (settle(job, node, err))
		return -1;
	if (!job->work)
		return cpl_stream_add(job->net, &stream, n, routing, load, sums,
		                      err);
	seat_ranks(job, node);
	for (int i = 0; i < n; i++)
		cpl_traffic_add(job->net, routing[i], job->comm, job->rank_node,
		                job->work, load[i], &sums[i]);
	return 0;
}
