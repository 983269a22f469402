/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "traffic/workload.h"

#define MAX_RANKS_PER_NODE 65536

struct commplace_traffic {
	const struct cpl_network *net;
	struct cpl_workload *work;
	struct cpl_load load;
	struct cpl_metrics metrics;
	bool evaluated;
};

const struct cpl_load *
cpl_lib_background(const struct commplace_traffic *traffic)
{
	return traffic ? &traffic->load : NULL;
}

struct commplace_traffic *
commplace_traffic_new(const struct commplace_network *net, int threads,
                      struct commplace_error *err)
{
	struct commplace_traffic *t = calloc(1, sizeof(*t));
	struct cpl_error why = {""};

	if (!t) {
		cpl_fail_memory(&why);
	} else if (threads < 1 || threads > CPL_PARALLEL_MAX) {
		cpl_fail(&why, "threads: %d is outside 1 .. %d", threads,
		         CPL_PARALLEL_MAX);
	} else {
		t->net = cpl_lib_network(net);
		t->work = cpl_workload_new(t->net, threads, &why);
		if (t->work && !cpl_load_init(&t->load, t->net, &why))
			return t;
	}
	commplace_traffic_free(t);
	return cpl_lib_made(NULL, &why, err);
}

void commplace_traffic_free(struct commplace_traffic *t)
{
	if (!t)
		return;
	cpl_workload_free(t->work);
	cpl_load_free(&t->load);
	free(t);
}

static const struct cpl_routing *check(const struct commplace_traffic *t,
                                       const int *node, int n,
                                       const char *routing,
                                       struct cpl_error *err)
{
	if (t->evaluated)
		return cpl_fail_null(
		        err, "the jobs are already evaluated; none is added");
	if (cpl_lib_check_nodes(t->net, node, n, err))
		return NULL;
	return cpl_routing_find(t->net, routing, err);
}

/* ranks_per_node 0: node[rank]. A matrix too large to be stored goes message by
 * message. */
static int add_job(struct commplace_traffic *t, const struct cpl_signature *sig,
                   const int *node, int ranks_per_node,
                   const struct cpl_routing *routing, struct cpl_error *err)
{
	bool stored = !ranks_per_node || cpl_signature_stored(sig);
	struct cpl_comm *comm = stored ? cpl_signature_total(sig, err) : NULL;
	struct cpl_rows *rows = stored ? NULL : cpl_rows_new(sig, NULL, err);
	struct cpl_job job = {.routing = routing,
	                      .comm = comm,
	                      .rows = rows,
	                      .node = node,
	                      .ranks_per_node = ranks_per_node};
	int number = comm || rows ? cpl_workload_add(t->work, &job, err) : -1;

	cpl_comm_free(comm);
	cpl_rows_free(rows);
	return number;
}

int commplace_traffic_add(struct commplace_traffic *t,
                          const struct commplace_signature *signature,
                          const int *node, int n, int ranks_per_node,
                          const char *routing, struct commplace_error *err)
{
	const struct cpl_signature *sig = cpl_lib_signature(signature);
	const struct cpl_routing *by;
	struct cpl_error why = {""};
	int job = -1;

	by = check(t, node, n, routing, &why);
	if (by && (ranks_per_node < 1 || ranks_per_node > MAX_RANKS_PER_NODE ||
	           sig->ranks > (int64_t)n * ranks_per_node))
		cpl_fail(&why,
		         "%d ranks do not fit %d nodes with %d ranks each",
		         sig->ranks, n, ranks_per_node);
	else if (by)
		job = add_job(t, sig, node, ranks_per_node, by, &why);
	return job < 0 ? cpl_lib_fail(err, &why) : job;
}

int commplace_traffic_add_ranks(struct commplace_traffic *t,
                                const struct commplace_signature *signature,
                                const int *rank_node, const char *routing,
                                struct commplace_error *err)
{
	const struct cpl_signature *sig = cpl_lib_signature(signature);
	struct cpl_error why = {""};
	const struct cpl_routing *by =
	        check(t, rank_node, sig->ranks, routing, &why);
	int job = by ? add_job(t, sig, rank_node, 0, by, &why) : -1;

	return job < 0 ? cpl_lib_fail(err, &why) : job;
}

int commplace_traffic_evaluate(struct commplace_traffic *t,
                               struct commplace_error *err)
{
	const struct cpl_network *net = t->net;
	struct cpl_error why = {""};

	if (t->evaluated)
		return cpl_fail(cpl_lib_error(err),
		                "the jobs are already evaluated");
	if (cpl_workload_solve(t->work, &why))
		return cpl_lib_fail(err, &why);
	cpl_load_add(&t->load, cpl_workload_load(t->work), net);
	cpl_traffic_metrics(net, &t->load, NULL, &t->metrics);
	t->evaluated = true;
	return 0;
}

READ(double, traffic_max_congestion, traffic, traffic->metrics.max_congestion)
READ(double, traffic_mean_congestion, traffic, traffic->metrics.mean_congestion)
READ(double, traffic_nonzero_average, traffic, traffic->metrics.nonzero_average)
READ(double, traffic_nonzero_variance, traffic,
     traffic->metrics.nonzero_variance)
READ(double, traffic_max_injection, traffic, traffic->metrics.max_injection)
READ(const double *, traffic_link_bytes, traffic, traffic->load.link)
READ(const double *, traffic_injection_bytes, traffic, traffic->load.injection)
READ(const double *, traffic_ejection_bytes, traffic, traffic->load.ejection)

static const struct cpl_job_sums *sums(const struct commplace_traffic *t,
                                       int job)
{
	static const struct cpl_job_sums none;

	return t->evaluated && job >= 0 && job < cpl_workload_jobs(t->work)
	               ? cpl_workload_sums(t->work, job)
	               : &none;
}

#define READ_JOB(member)                                                       \
	double commplace_traffic_##member(const struct commplace_traffic *t,   \
	                                  int job)                             \
	{                                                                      \
		return sums(t, job)->member;                                   \
	}
READ_JOB(hop_bytes)
READ_JOB(bytes_on_network)
READ_JOB(bytes_in_node)
READ_JOB(max_dilation)

int commplace_traffic_numbers(const struct commplace_traffic *t, int class_id,
                              struct commplace_numbers *out,
                              struct commplace_error *err)
{
	const struct cpl_network *net = t->net;
	struct cpl_class_stats stats;
	struct cpl_error why = {""};
	int rc;

	if (class_id == COMMPLACE_INJECTION || class_id == COMMPLACE_EJECTION)
		rc = cpl_load_node_stats(net,
		                         class_id == COMMPLACE_INJECTION
		                                 ? t->load.injection
		                                 : t->load.ejection,
		                         &stats, &why);
	else if (class_id < COMMPLACE_ALL_LINKS || class_id >= net->n_classes)
		rc = cpl_fail(&why, "network %s has no link class %d",
		              net->name, class_id);
	else
		rc = cpl_load_stats(net, &t->load, class_id, &stats, &why);
	if (rc)
		return cpl_lib_fail(err, &why);
	*out = (struct commplace_numbers){
	        .count = stats.count,
	        .used = stats.used,
	        .min = stats.min,
	        .q1 = stats.q1,
	        .median = stats.median,
	        .mean = stats.mean,
	        .q3 = stats.q3,
	        .max = stats.max,
	};
	return 0;
}
