/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "routing/adaptive/adaptive.h"
#include "routing/backlog.h"
#include "routing/progressive/progressive.h"
#include "traffic/accelerators.h"
#include "traffic/matrix.h"
#include "traffic/ports.h"
#include "traffic/stream_internal.h"

/* The flows of an adaptive job; several workloads may share them. */
struct shared_flows {
	struct cpl_flows flows;
	int64_t max_flows; /* of buffers that they came from */
	int holders;
};

struct workload_job {
	const struct cpl_routing *routing;
	struct shared_flows *shared; /* adaptive */
	struct cpl_job_sums sums;
};

struct cpl_workload {
	const struct cpl_network *net;
	int threads;
	int n_jobs;
	struct workload_job *job;
	struct cpl_load load;
	bool on_links; /* load.link may hold bytes */
	struct cpl_matrix buffers;
	struct cpl_adaptive_memory memory;
};

struct cpl_workload *cpl_workload_new(const struct cpl_network *net,
                                      int threads, struct cpl_error *err)
{
	struct cpl_workload *w = calloc(1, sizeof(*w));

	if (!w)
		return cpl_fail_null_memory(err);
	w->net = net;
	w->threads = threads;
	if (cpl_load_init(&w->load, net, err)) {
		free(w);
		return NULL;
	}
	return w;
}

/* The larger ones go back to the buffers. */
static void release(struct cpl_matrix *buffers, struct shared_flows *shared)
{
	if (!shared || --shared->holders)
		return;
	if (shared->max_flows > buffers->max_flows) {
		cpl_flows_free(&buffers->flows);
		buffers->flows = shared->flows;
		buffers->max_flows = shared->max_flows;
	} else {
		cpl_flows_free(&shared->flows);
	}
	free(shared);
}

static void forget_jobs(struct cpl_workload *w)
{
	for (int i = 0; i < w->n_jobs; i++)
		release(&w->buffers, w->job[i].shared);
	w->n_jobs = 0;
}

void cpl_workload_free(struct cpl_workload *w)
{
	if (!w)
		return;
	forget_jobs(w);
	free(w->job);
	cpl_load_free(&w->load);
	cpl_matrix_free(&w->buffers);
	cpl_free_all(w->memory.block, w);
}

void cpl_workload_clear(struct cpl_workload *w, const struct cpl_load *start)
{
	forget_jobs(w);
	cpl_load_clear(&w->load, w->net);
	if (start)
		cpl_load_add(&w->load, start, w->net);
	w->on_links = start;
}

static struct workload_job *next_job(struct cpl_workload *w,
                                     const struct cpl_routing *routing,
                                     struct cpl_error *err)
{
	struct workload_job *job;

	if (cpl_array_grow(&w->job, w->n_jobs, sizeof(*job), err))
		return NULL;
	job = &w->job[w->n_jobs++];
	*job = (struct workload_job){.routing = routing};
	if (!cpl_routing_is_adaptive(routing))
		w->on_links = true;
	return job;
}

/* Adaptive jobs share the flows. */
static int add_rows(struct cpl_workload *const *w,
                    const struct cpl_routing *const *routing, int n,
                    const struct cpl_job *job, struct cpl_error *err)
{
	struct cpl_stream stream = {
	        .rows = job->rows,
	        .node = job->node,
	        .ranks_per_node = job->ranks_per_node ? job->ranks_per_node : 1,
	        .threads = w[0]->threads};
	struct cpl_arena arena = {0};
	struct cpl_load **load = cpl_arena_take(&arena, n, sizeof(*load));
	struct cpl_job_sums *sums = cpl_arena_take(&arena, n, sizeof(*sums));
	struct shared_flows *shared = calloc(1, sizeof(*shared));
	bool adaptive = false;
	int rc = -1;

	if (cpl_out_of_memory(arena.failed || !shared, err))
		goto out;
	for (int i = 0; i < n; i++) {
		if (!next_job(w[i], routing[i], err))
			goto out;
		load[i] = &w[i]->load;
		adaptive = adaptive || cpl_routing_is_adaptive(routing[i]);
	}
	rc = cpl_stream_add(w[0]->net, &stream, n, routing, load, sums,
	                    adaptive ? &shared->flows : NULL, err);
	for (int i = 0; i < n; i++) {
		struct workload_job *to = &w[i]->job[w[i]->n_jobs - 1];

		to->sums = sums[i];
		if (cpl_routing_is_adaptive(routing[i])) {
			to->shared = shared;
			shared->holders++;
		}
	}
out:
	if (shared && !shared->holders) {
		cpl_flows_free(&shared->flows);
		free(shared);
	}
	return cpl_arena_end(&arena, rc, err);
}

static int add_matrix(struct cpl_workload *w, const struct cpl_routing *routing,
                      const struct cpl_job *job, const struct cpl_comm *comm,
                      struct cpl_error *err)
{
	struct workload_job *to = next_job(w, routing, err);
	struct cpl_port_job ports = {.comm = comm};
	struct cpl_job ported = {0};
	int rc;

	if (!to)
		return -1;
	if (w->net->accelerators.per_node
	            ? cpl_accelerators_take(w->net, job, comm, &w->load,
	                                    &to->sums, &ports, err)
	    : w->net->n_ports > 1
	            ? cpl_port_job_make(&ports, w->net, job, comm, err)
	            : 0)
		return -1;
	if (ports.node) {
		ported.node = ports.node;
		job = &ported;
	}
	rc = cpl_matrix_reserve(&w->buffers, w->net, routing, ports.comm, err);
	if (!rc)
		cpl_matrix_add(&w->buffers, w->net, routing, job, ports.comm,
		               ports.cable, &w->load, &to->sums);
	cpl_port_job_free(&ports);
	if (rc)
		return -1;
	if (!cpl_routing_is_adaptive(routing))
		return 0;
	/* The buffers get others with the next matrix. */
	to->shared = malloc(sizeof(*to->shared));
	if (!to->shared)
		return cpl_fail_memory(err);
	*to->shared = (struct shared_flows){w->buffers.flows,
	                                    w->buffers.max_flows, 1};
	w->buffers.flows = (struct cpl_flows){0};
	w->buffers.max_flows = 0;
	return 0;
}

/* A pass over messages takes each host as a node of its own, with one port and
 * no accelerators. */
static int needs_matrix(const struct cpl_network *net,
                        const struct cpl_job *job, bool *twice,
                        struct cpl_error *err)
{
	int each = job->ranks_per_node ? job->ranks_per_node : 1;
	unsigned char *seen = calloc((size_t)net->n_nodes, 1);

	*twice = job->rank_host || net->n_ports > 1 ||
	         net->accelerators.per_node;
	if (!seen)
		return cpl_fail_memory(err);
	for (int i = 0; i <= (job->rows->ranks - 1) / each && !*twice; i++) {
		*twice = seen[job->node[i]];
		seen[job->node[i]] = 1;
	}
	free(seen);
	return 0;
}

int cpl_workload_add_each(struct cpl_workload *const *w,
                          const struct cpl_routing *const *routing, int n,
                          const struct cpl_job *job, struct cpl_error *err)
{
	const struct cpl_comm *comm = job->comm;
	struct cpl_comm *made = NULL;
	bool twice = false;
	int rc = 0;

	if (!comm && needs_matrix(w[0]->net, job, &twice, err))
		return -1;
	if (twice) {
		comm = made = cpl_rows_comm(job->rows, err);
		if (!made)
			return cpl_fail_prefix(
			        err, w[0]->net->accelerators.per_node
			                     ? "nodes with accelerators: "
			             : w[0]->net->n_ports > 1
			                     ? "nodes with several ports: "
			                     : "hosts that are given twice: ");
	}
	if (!comm)
		return add_rows(w, routing, n, job, err);
	for (int i = 0; i < n && !rc; i++)
		rc = add_matrix(w[i], routing[i], job, comm, err);
	cpl_comm_free(made);
	return rc;
}

int cpl_workload_add(struct cpl_workload *w, const struct cpl_job *job,
                     struct cpl_error *err)
{
	return cpl_workload_add_each(&w, &job->routing, 1, job, err)
	               ? -1
	               : w->n_jobs - 1;
}

int cpl_workload_add_all(struct cpl_workload *w,
                         const struct cpl_workload *other,
                         struct cpl_error *err)
{
	for (int i = 0; i < other->n_jobs; i++) {
		struct workload_job *job =
		        next_job(w, other->job[i].routing, err);

		if (!job)
			return -1;
		*job = other->job[i];
		if (job->shared)
			job->shared->holders++;
	}
	cpl_load_add(&w->load, &other->load, w->net);
	w->on_links = w->on_links || other->on_links;
	return 0;
}

static void take_sums(struct workload_job *job, const struct cpl_routed *routed)
{
	job->sums.hop_bytes = routed->hop_bytes;
	job->sums.max_dilation = routed->max_hops;
}

/* How jobs adapt: Jain's way, progressive, or packet by packet. */
enum adaptation {
	BY_BANDWIDTH,
	PROGRESSIVE,
	BY_BACKLOG,
	N_ADAPTATIONS,
};

static enum adaptation adapts_by(const struct cpl_routing *routing)
{
	if (routing->send)
		return BY_BACKLOG;
	return cpl_routing_is_progressive(routing) ? PROGRESSIVE : BY_BANDWIDTH;
}

/* In which the busiest port sends, or gets, all of it. O(ports). */
static double port_seconds(const struct cpl_workload *w)
{
	int64_t n = cpl_network_port_cables(w->net);
	double most = 0;

	for (int64_t i = 0; i < n; i++)
		most = fmax(most, fmax(w->load.injection[i], w->load.ejection[i]) /
		                          cpl_network_port_bandwidth(w->net, i));
	return most;
}

static int solve(struct cpl_workload *w, enum adaptation how,
                 struct cpl_adaptive_job *job, int n, struct cpl_error *err)
{
	struct cpl_adaptive all = {.net = w->net,
	                           .threads = w->threads,
	                           .load = w->load.link,
	                           .background = w->on_links ? w->load.link
	                                                     : NULL,
	                           .memory = &w->memory,
	                           .job = job,
	                           .n_jobs = n};

	if (how == BY_BACKLOG)
		return cpl_backlog_solve(w->net, job, n, port_seconds(w),
		                         w->load.link, err);
	if (how == PROGRESSIVE)
		return cpl_progressive_solve(w->net, job, n, w->load.link, err);
	return cpl_adaptive_solve(&all, err);
}

/* The jobs that adapt so, together; job: room for all. */
static int solve_jobs(struct cpl_workload *w, enum adaptation how,
                      struct cpl_adaptive_job *job, struct cpl_error *err)
{
	int n = 0;

	for (int i = 0; i < w->n_jobs; i++)
		if (w->job[i].shared && adapts_by(w->job[i].routing) == how)
			job[n++] = (struct cpl_adaptive_job){
			        .flows = &w->job[i].shared->flows,
			        .routing = w->job[i].routing};
	if (n && solve(w, how, job, n, err))
		return -1;
	for (int i = w->n_jobs - 1; i >= 0 && n; i--)
		if (w->job[i].shared && adapts_by(w->job[i].routing) == how)
			take_sums(&w->job[i], &job[--n].routed);
	return 0;
}

int cpl_workload_solve(struct cpl_workload *w, struct cpl_error *err)
{
	struct cpl_adaptive_job *job;
	bool any = false;
	int rc = 0;

	for (int i = 0; i < w->n_jobs; i++)
		any = any || w->job[i].shared;
	if (!any)
		return 0;
	job = calloc((size_t)w->n_jobs, sizeof(*job));
	if (!job)
		return cpl_fail_memory(err);
	for (int how = 0; how < N_ADAPTATIONS && !rc; how++)
		rc = solve_jobs(w, how, job, err);
	free(job);
	return rc;
}

const struct cpl_load *cpl_workload_load(const struct cpl_workload *w)
{
	return &w->load;
}

const struct cpl_job_sums *cpl_workload_sums(const struct cpl_workload *w,
                                             int job)
{
	return &w->job[job].sums;
}

int cpl_workload_jobs(const struct cpl_workload *w)
{
	return w->n_jobs;
}

int cpl_workload_evaluate(struct cpl_workload *w, const struct cpl_job *job,
                          const struct cpl_load *background,
                          struct cpl_metrics *metrics,
                          struct cpl_job_sums *sums, struct cpl_error *err)
{
	cpl_workload_clear(w, NULL);
	if (cpl_workload_add(w, job, err) < 0 || cpl_workload_solve(w, err))
		return -1;
	cpl_traffic_metrics(w->net, &w->load, background, metrics);
	if (sums)
		*sums = w->job[0].sums;
	return 0;
}
