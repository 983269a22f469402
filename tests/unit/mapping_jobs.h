/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests for the tests of mappers. */
#pragma once

#include <stdlib.h>

#include "add_traffic.h"
#include "mapping/mappers.h"
#include "mapping_inputs.h"

#define MAX_RANKS 4096

struct job {
	int host[MAX_RANKS], slots[MAX_RANKS], rank_host[MAX_RANKS];
	struct cpl_network *net;
	struct cpl_comm *comm, *graph;
	struct cpl_map_request req;
};

/* Hosts 0 .. n_hosts - 1 with one slot each; takes the network and comm. */
static inline void set_up(struct job *job, struct cpl_network *net,
                          struct cpl_comm *comm, int n_hosts)
{
	struct cpl_error err = {""};

	for (int i = 0; i < n_hosts; i++) {
		job->host[i] = i;
		job->slots[i] = 1;
	}
	job->net = net;
	job->comm = comm;
	job->graph = cpl_comm_symmetric(comm, &err);
	assert_non_null(job->graph);
	job->req = (struct cpl_map_request){
	        .net = net,
	        .routing = cpl_routing_find(net, NULL, &err),
	        .comm = comm,
	        .graph = job->graph,
	        .n_hosts = n_hosts,
	        .host = job->host,
	        .slots = job->slots,
	        .objective = CPL_OBJECTIVE_HOP_BYTES,
	        .work = 2000,
	};
}

static inline void tear_down(struct job *job)
{
	cpl_comm_free(job->graph);
	cpl_comm_free(job->comm);
	cpl_network_free(job->net);
}

static inline double all_bytes(const struct cpl_comm *comm)
{
	double sum = 0;

	for (int64_t e = 0; e < comm->n_entries; e++)
		sum += comm->bytes[e];
	return sum;
}

/* Load and sums of a layout by the traffic model; metrics too. */
static inline void measure(const struct job *job, const int *rank_host,
                           struct cpl_metrics *metrics,
                           struct cpl_job_sums *sums)
{
	const struct cpl_map_request *r = &job->req;
	struct cpl_error err = {""};
	int *node = malloc((size_t)r->comm->ranks * sizeof(*node));
	struct cpl_load load;

	assert_int_equal(cpl_load_init(&load, r->net, &err), 0);
	for (int i = 0; i < r->comm->ranks; i++)
		node[i] = r->host[rank_host[i]];
	add_traffic(r->net, r->routing, r->comm, node, &load, sums);
	cpl_traffic_metrics(r->net, &load, r->background, metrics);
	cpl_load_free(&load);
	free(node);
}

static inline double hop_bytes(const struct job *job, const int *rank_host)
{
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;

	measure(job, rank_host, &metrics, &sums);
	return sums.hop_bytes;
}

static inline double max_congestion(const struct job *job, const int *rank_host)
{
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;

	measure(job, rank_host, &metrics, &sums);
	return metrics.max_congestion;
}

/* Exactly slots[h] ranks on host h? */
static inline void check_counts(const struct job *job, const int *rank_host)
{
	int *count = calloc((size_t)job->req.n_hosts, sizeof(*count));

	for (int r = 0; r < job->req.comm->ranks; r++) {
		assert_in_range(rank_host[r], 0, job->req.n_hosts - 1);
		count[rank_host[r]]++;
	}
	assert_memory_equal(count, job->slots,
	                    (size_t)job->req.n_hosts * sizeof(*count));
	free(count);
}
