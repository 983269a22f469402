/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs on a network: what their messages put on its links when all of them are
 * in flight in one phase (Jain 2016, 3.2.1-3.2.5; Damselfly), each with its own
 * routing. This is the one entry to the traffic model.
 *
 * A stored matrix is added up to flows, in (source rank, destination rank)
 * order, and the flows are routed in (source router, destination router) order:
 * the result is the same to the last bit on every machine. Rows that are made
 * when they are looked at are gone over in as few passes as the routings allow,
 * static-direct and static-indirect of a dragonfly together.
 *
 * Jobs whose routing does not look at the load put on the links what they would
 * put there alone. Jobs with an adaptive routing are solved together: each
 * adapts to all others of them, and to the bytes that are on the links already
 * (routing/adaptive/adaptive.h); then those of progressive-adaptive, likewise
 * (routing/progressive/progressive.h); then those whose packets choose by queues
 * (routing/backlog.h).
 */
#pragma once

#include "graph/comm.h"
#include "routing/routing.h"
#include "signature/rows.h"
#include "traffic/traffic.h"

/* What the ranks send each other, where they are, and how that is routed. */
struct cpl_job {
	const struct cpl_routing *routing;
	/* One of the two; of both the matrix. */
	const struct cpl_comm *comm;
	const struct cpl_rows *rows;
	/* Rank r is on node[rank_host[r]]; rank_host NULL: on node[r /
	 * ranks_per_node], which is 1 .. 65536, or 0 for 1. */
	const int *node;
	const int *rank_host;
	int ranks_per_node;
	/* The ranks are whole hosts: where the network's nodes have several
	 * ports, theirs are not told apart (cpl_network_port_fraction). */
	bool of_hosts;
};

/* Where a rank is. O(1). */
static inline int cpl_job_node(const struct cpl_job *job, int rank)
{
	if (job->rank_host)
		return job->node[job->rank_host[rank]];
	return job->node[job->ranks_per_node > 1 ? rank / job->ranks_per_node
	                                         : rank];
}

struct cpl_workload;

/* No jobs. threads: see base/parallel.h; no result depends on it. Inside a
 * daemon: 1. NULL with err. O(links + nodes). */
struct cpl_workload *cpl_workload_new(const struct cpl_network *net,
                                      int threads, struct cpl_error *err);
void cpl_workload_free(struct cpl_workload *w);

/* Forget the jobs; `start` (NULL: nothing) is on the links and nodes from now
 * on. Buffers stay: after it jobs no larger than those before are added without
 * an allocation unless their routing is adaptive. O(links + nodes). */
void cpl_workload_clear(struct cpl_workload *w, const struct cpl_load *start);

/*
 * Add a job. Nothing of the caller's is kept. The job's number, from 0 on, or
 * -1 with err (memory; rows of which nodes are given twice, or have several
 * ports or accelerators, need the matrix, which may be too large), with w only to be cleared or
 * freed. O(entries + used flows * path length), or what the routing's solve
 * says; of rows O(messages + flows), messages of neighbouring ranks between the
 * same nodes counting once where the pattern says that they are alike.
 */
int cpl_workload_add(struct cpl_workload *w, const struct cpl_job *job,
                     struct cpl_error *err);

/* The same job to n workloads of one network, to w[i] with routing[i]: one pass
 * over the messages serves several. 0, or -1 with err. */
int cpl_workload_add_each(struct cpl_workload *const *w,
                          const struct cpl_routing *const *routing, int n,
                          const struct cpl_job *job, struct cpl_error *err);

/* Add all jobs of another workload on the same network, not solved yet. Their
 * numbers follow. 0, or -1 with err (memory). */
int cpl_workload_add_all(struct cpl_workload *w,
                         const struct cpl_workload *other,
                         struct cpl_error *err);

/* After the last job: what adaptive jobs put on the links. Once. 0, or -1 with
 * err (memory). Free where no job is adaptive. */
int cpl_workload_solve(struct cpl_workload *w, struct cpl_error *err);

/* All that is on the links and nodes; complete after cpl_workload_solve. */
const struct cpl_load *cpl_workload_load(const struct cpl_workload *w);
/* How many jobs there are, and one's sums; complete as the load. O(1). */
int cpl_workload_jobs(const struct cpl_workload *w);
const struct cpl_job_sums *cpl_workload_sums(const struct cpl_workload *w,
                                             int job);

/*
 * For searches: the job alone, cleared, added and solved, its metrics with the
 * background's bytes (may be NULL; adaptive routings do not see them) and its
 * sums (may be NULL). 0, or -1 with err. O(links + what the job's adding and
 * solving cost).
 */
int cpl_workload_evaluate(struct cpl_workload *w, const struct cpl_job *job,
                          const struct cpl_load *background,
                          struct cpl_metrics *metrics,
                          struct cpl_job_sums *sums, struct cpl_error *err);
