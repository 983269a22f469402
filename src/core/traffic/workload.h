/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several jobs on one network, each with its own routing (Jain 2016, 3.2.5:
 * all jobs' messages are in flight in one phase).
 *
 * Jobs whose routing does not look at the load (static ones, and all of tori,
 * fat trees and graphs) put on the links what they would put there alone. Jobs
 * with an adaptive routing of a dragonfly are solved together: each adapts to
 * all others of them, and to the bytes that the jobs with other routings and
 * the caller's background have on the links, which take the part of each
 * link's bandwidth that their bytes ask for (adaptive.h).
 */
#ifndef CPL_TRAFFIC_WORKLOAD_H
#define CPL_TRAFFIC_WORKLOAD_H

#include "traffic/traffic.h"

struct cpl_workload;

/* threads: see base/parallel.h; no result depends on it. Inside a daemon: 1.
 * NULL with err. */
struct cpl_workload *cpl_workload_new(const struct cpl_network *net,
                                      int threads, struct cpl_error *err);
void cpl_workload_free(struct cpl_workload *w);

/*
 * Add a job with rank r on node rank_node[r], or one whose messages are not
 * stored. Nothing of the caller's is kept. The job's number, from 0 on, or -1
 * with err (memory). Cost as cpl_traffic_add and cpl_stream_pairs or
 * cpl_stream_add.
 */
int cpl_workload_add(struct cpl_workload *w, const struct cpl_routing *routing,
                     const struct cpl_comm *comm, const int *rank_node,
                     struct cpl_error *err);
int cpl_workload_add_stream(struct cpl_workload *w,
                            const struct cpl_routing *routing,
                            const struct cpl_stream *job,
                            struct cpl_error *err);

/* Add all jobs of another workload on the same network, not solved yet, which
 * must live as long. Their numbers follow. 0, or -1 with err (memory). */
int cpl_workload_add_all(struct cpl_workload *w,
                         const struct cpl_workload *other,
                         struct cpl_error *err);

/*
 * Add the traffic of all jobs to load, whose link bytes as they come in are
 * the background (zeros: none). Once. 0, or -1 with err (memory).
 */
int cpl_workload_solve(struct cpl_workload *w, struct cpl_load *load,
                       struct cpl_error *err);

/* How many jobs there are. */
int cpl_workload_jobs(const struct cpl_workload *w);
/* What cpl_traffic_add says of a job; complete after cpl_workload_solve. */
const struct cpl_job_sums *cpl_workload_sums(const struct cpl_workload *w,
                                             int job);

#endif
