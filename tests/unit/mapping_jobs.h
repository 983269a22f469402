/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Networks, patterns and requests for the tests of mappers. */
#ifndef TESTS_UNIT_MAPPING_JOBS_H
#define TESTS_UNIT_MAPPING_JOBS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "mapping/mapping.h"

#define MAX_RANKS 4096

static inline struct cpl_network *network(const char *text)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(text, strlen(text), "test", &err);

	if (!net)
		fail_msg("%s", err.text);
	return net;
}

static inline struct cpl_network *torus(int x, int y, int z, bool wrap)
{
	const char *w = wrap ? "true" : "false";
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-network\",\"version\":1,"
	         "\"name\":\"t\",\"type\":\"torus\",\"dims\":[%d,%d,%d],"
	         "\"wrap\":[%s,%s,%s],\"nodes_per_router\":1,"
	         "\"nodes\":\"n[0-%d]\"}",
	         x, y, z, w, w, w, x * y * z - 1);
	return network(text);
}

static inline struct cpl_network *dragonfly(void)
{
	return network("{\"format\":\"commplace-network\",\"version\":1,"
	               "\"name\":\"df\",\"type\":\"dragonfly\",\"groups\":4,"
	               "\"rows\":2,\"columns\":2,\"nodes_per_router\":2,"
	               "\"global_links_per_group_pair\":1,"
	               "\"nodes\":\"n[0-31]\"}");
}

static inline struct cpl_comm *build(int ranks, struct cpl_comm_entry *entry,
                                     int64_t n)
{
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_comm_build(ranks, entry, n, &err);

	assert_non_null(comm);
	return comm;
}

/*
 * NPB 3.3 LU on s * s ranks, class C or D at 4,096: numbers of messages of both
 * ways as bytes of one; a pair on the outer border has one more (Sharunov 2017;
 * exchange_*.f).
 */
static inline struct cpl_comm *npb_lu(int s)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)(2 * s * s) * sizeof(*entry));
	double messages = s == 64 ? 245021 : 80829;
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int c = 0; c < s; c++) {
		for (int r = 0; r < s; r++) {
			int i = r + s * c;

			if (r + 1 < s)
				entry[n++] = (struct cpl_comm_entry){
				        i, i + 1,
				        messages + (c == 0 || c == s - 1), 1};
			if (c + 1 < s)
				entry[n++] = (struct cpl_comm_entry){
				        i, i + s,
				        messages + (r == 0 || r == s - 1), 1};
		}
	}
	comm = build(s * s, entry, n);
	free(entry);
	return comm;
}

/* The same of BT: a hexagonal torus (copy_faces.f, make_set.f). */
static inline struct cpl_comm *npb_bt(int s)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)(3 * s * s) * sizeof(*entry));
	double messages = s == 64 ? 32130 : (2 + 2.0 * (s - 1)) * 201 + 2;
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int j = 0; j < s; j++) {
		for (int i = 0; i < s; i++) {
			int p = i + s * j, up = (j + 1) % s;
			int to[3] = {(i + 1) % s + s * j, i + s * up,
			             (i + s - 1) % s + s * up};

			for (int k = 0; k < 3; k++)
				entry[n++] = (struct cpl_comm_entry){
				        p, to[k], messages, 1};
		}
	}
	comm = build(s * s, entry, n);
	free(entry);
	return comm;
}

static inline struct cpl_comm *random_comm(int ranks, int per_rank,
                                           uint64_t seed)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)(ranks * per_rank) * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int r = 0; r < ranks; r++)
		for (uint64_t k = 0; k < (uint64_t)per_rank; k++)
			entry[n++] = (struct cpl_comm_entry){
			        r,
			        (int)cpl_random_below(seed, k, (uint64_t)r,
			                              (uint64_t)ranks),
			        (double)cpl_random_below(seed, 50 + k,
			                                 (uint64_t)r, 1000),
			        1};
	comm = build(ranks, entry, n);
	free(entry);
	return comm;
}

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
	struct cpl_traffic_work *work =
	        cpl_traffic_work_new(r->net, r->comm, &err);
	int *node = malloc((size_t)r->comm->ranks * sizeof(*node));
	struct cpl_load load;

	assert_non_null(work);
	assert_int_equal(cpl_load_init(&load, r->net, &err), 0);
	for (int i = 0; i < r->comm->ranks; i++)
		node[i] = r->host[rank_host[i]];
	cpl_traffic_add(r->net, r->routing, r->comm, node, work, &load, sums);
	cpl_traffic_metrics(r->net, &load, r->background, metrics);
	cpl_load_free(&load);
	cpl_traffic_work_free(work);
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

#endif
