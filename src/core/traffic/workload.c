/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/workload.h"

#include <stdlib.h>
#include <string.h>

#include "routing/adaptive.h"
#include "traffic/stream_internal.h"
#include "traffic/traffic_internal.h"

struct workload_job {
	const struct cpl_routing *routing;
	struct cpl_pairs pairs; /* adaptive */
	bool borrowed;          /* they are another workload's */
	struct cpl_job_sums sums;
};

struct cpl_workload {
	const struct cpl_network *net;
	int threads;
	int n_jobs;
	struct workload_job *job;
	/* Of the nodes for all jobs, of the links for those not adaptive. */
	struct cpl_load load;
};

struct cpl_workload *cpl_workload_new(const struct cpl_network *net,
                                      int threads, struct cpl_error *err)
{
	struct cpl_workload *w = calloc(1, sizeof(*w));

	if (!w) {
		cpl_fail_memory(err);
		return NULL;
	}
	w->net = net;
	w->threads = threads;
	if (cpl_load_init(&w->load, net, err)) {
		free(w);
		return NULL;
	}
	return w;
}

void cpl_workload_free(struct cpl_workload *w)
{
	if (!w)
		return;
	for (int i = 0; i < w->n_jobs; i++)
		if (!w->job[i].borrowed)
			cpl_pairs_free(&w->job[i].pairs);
	free(w->job);
	cpl_load_free(&w->load);
	free(w);
}

/* Room for one more, which n_jobs does not count yet. */
static struct workload_job *next_job(struct cpl_workload *w,
                                     const struct cpl_routing *routing,
                                     struct cpl_error *err)
{
	struct workload_job *grown =
	        realloc(w->job, ((size_t)w->n_jobs + 1) * sizeof(*grown));

	if (!grown) {
		cpl_fail_memory(err);
		return NULL;
	}
	w->job = grown;
	grown += w->n_jobs;
	memset(grown, 0, sizeof(*grown));
	grown->routing = routing;
	return grown;
}

static int copy_pairs(const struct cpl_pairs *from, struct cpl_pairs *to)
{
	size_t rows = (size_t)from->n_from;
	size_t n = rows ? (size_t)from->row[rows] : 0;

	to->from = malloc((rows + 1) * sizeof(*to->from));
	to->row = malloc((rows + 1) * sizeof(*to->row));
	to->to = malloc((n + 1) * sizeof(*to->to));
	to->bytes = malloc((n + 1) * sizeof(*to->bytes));
	if (!to->from || !to->row || !to->to || !to->bytes) {
		cpl_pairs_free(to);
		return -1;
	}
	to->n_from = from->n_from;
	memcpy(to->from, from->from, rows * sizeof(*to->from));
	memcpy(to->row, from->row, (rows + 1) * sizeof(*to->row));
	memcpy(to->to, from->to, n * sizeof(*to->to));
	memcpy(to->bytes, from->bytes, n * sizeof(*to->bytes));
	return 0;
}

int cpl_workload_add(struct cpl_workload *w, const struct cpl_routing *routing,
                     const struct cpl_comm *comm, const int *rank_node,
                     struct cpl_error *err)
{
	struct workload_job *job = next_job(w, routing, err);
	struct cpl_traffic_work *work;
	int rc = 0;

	if (!job)
		return -1;
	work = cpl_traffic_work_new(w->net, comm, err);
	if (!work)
		return -1;
	if (!cpl_routing_is_adaptive(routing))
		cpl_traffic_add(w->net, routing, comm, rank_node, work,
		                &w->load, &job->sums);
	else if (copy_pairs(cpl_traffic_pairs(w->net, comm, rank_node, work,
	                                      &w->load, &job->sums),
	                    &job->pairs))
		rc = cpl_fail_memory(err);
	cpl_traffic_work_free(work);
	return rc ? -1 : w->n_jobs++;
}

int cpl_workload_add_stream(struct cpl_workload *w,
                            const struct cpl_routing *routing,
                            const struct cpl_stream *stream,
                            struct cpl_error *err)
{
	struct workload_job *job = next_job(w, routing, err);
	struct cpl_load *load = &w->load;
	int rc;

	if (!job)
		return -1;
	if (cpl_routing_is_adaptive(routing)) {
		struct stream_sinks sinks = {.n_more = 1,
		                             .load = &load,
		                             .sums = &job->sums,
		                             .pairs = &job->pairs};

		rc = cpl_stream_walk(w->net, stream, &sinks, err);
	} else {
		rc = cpl_stream_add(w->net, stream, 1, &routing, &load,
		                    &job->sums, err);
	}
	if (rc) {
		cpl_pairs_free(&job->pairs);
		return -1;
	}
	return w->n_jobs++;
}

int cpl_workload_add_all(struct cpl_workload *w,
                         const struct cpl_workload *other,
                         struct cpl_error *err)
{
	for (int i = 0; i < other->n_jobs; i++) {
		struct workload_job *job = next_job(w, NULL, err);

		if (!job)
			return -1;
		*job = other->job[i];
		job->borrowed = true;
		w->n_jobs++;
	}
	cpl_load_add(&w->load, &other->load, w->net);
	return 0;
}

static int solve_adaptive(struct cpl_workload *w,
                          struct cpl_adaptive_job *adaptive,
                          const double *background, double *links,
                          struct cpl_error *err)
{
	struct cpl_adaptive solve = {.net = w->net,
	                             .job = adaptive,
	                             .background = background,
	                             .threads = w->threads,
	                             .load = links};
	int n = 0;

	for (int i = 0; i < w->n_jobs; i++)
		if (cpl_routing_is_adaptive(w->job[i].routing)) {
			adaptive[n].pairs = &w->job[i].pairs;
			adaptive[n++].routing = w->job[i].routing;
		}
	solve.n_jobs = n;
	if (!n)
		return 0;
	if (cpl_adaptive_solve(&solve, err))
		return -1;
	n = 0;
	for (int i = 0; i < w->n_jobs; i++)
		if (cpl_routing_is_adaptive(w->job[i].routing)) {
			const struct cpl_routed *routed = &adaptive[n++].routed;

			w->job[i].sums.hop_bytes = routed->hop_bytes;
			w->job[i].sums.max_dilation = routed->max_hops;
		}
	return 0;
}

int cpl_workload_solve(struct cpl_workload *w, struct cpl_load *load,
                       struct cpl_error *err)
{
	size_t links = (size_t)w->net->n_links + 1;
	struct cpl_adaptive_job *adaptive =
	        calloc((size_t)w->n_jobs + 1, sizeof(*adaptive));
	double *own = calloc(links, sizeof(*own));
	int rc = -1;

	if (!adaptive || !own) {
		cpl_fail_memory(err);
		goto out;
	}
	cpl_load_add(load, &w->load, w->net);
	if (solve_adaptive(w, adaptive, load->link, own, err))
		goto out;
	for (int64_t l = 0; l < w->net->n_links; l++)
		load->link[l] += own[l];
	rc = 0;
out:
	free(adaptive);
	free(own);
	return rc;
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
