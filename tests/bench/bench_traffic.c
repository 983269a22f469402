/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time of one evaluation under each routing of a dragonfly: a 4-D stencil
 * with 24 ranks on each of NODES nodes, placed by RDR and by RDN, and for
 * static- indirect the enumeration of all intermediate routers beside it. Then
 * static-direct on every placement, in full and by increments: all metrics
 * after a rank moved to any node of the machine, two ranks changed places, and
 * all ranks of a node moved to any node.
 * Usage: bench_traffic NETWORK.json NODES [ROUTING...]
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/sort.h"
#include "placement/placement.h"
#include "traffic/moves.h"
#include "traffic/workload.h"
#include "stencil_job.h"

/* Routes up to which the enumeration is run. */
#define MAX_ROUTES 3e7
/* Evaluations and changes that the medians are of. */
#define N_FULL 21
#define N_CHANGES 2000

struct bench {
	const struct cpl_network *net;
	const struct cpl_comm *comm;
	struct cpl_workload *workload;
	int *rank_node;
	double *brute;
};

static void run(struct bench *b, const char *policy,
                const struct cpl_routing *routing)
{
	struct cpl_job job = {
	        .routing = routing, .comm = b->comm, .node = b->rank_node};
	struct cpl_metrics m;
	struct cpl_job_sums sums;
	double best = 1e9;

	/* The first time touches the buffers. */
	for (int i = 0; i < 3; i++) {
		double start = cpu_seconds(), seconds;

		cpl_workload_clear(b->workload, NULL);
		if (cpl_workload_add(b->workload, &job, NULL) ||
		    cpl_workload_solve(b->workload, NULL))
			return;
		seconds = cpu_seconds() - start;
		best = seconds < best ? seconds : best;
		if (seconds > 1)
			break;
	}
	cpl_traffic_metrics(b->net, cpl_workload_load(b->workload), NULL, &m);
	sums = *cpl_workload_sums(b->workload, 0);
	printf("%-4s %-18s %10.2f ms  hops %6.3f  max %10.4g s  mean %10.4g "
	       "s\n",
	       policy, routing->name, 1e3 * best,
	       sums.hop_bytes / sums.bytes_on_network, m.max_congestion,
	       m.mean_congestion);
	fflush(stdout);
}

/* Static-indirect leg by leg, from the entries. */
static void enumerate(struct bench *b, const char *policy)
{
	const struct cpl_network *net = b->net;
	int n = net->n_routers;
	double *between = calloc((size_t)n * (size_t)n, sizeof(*between));
	double start = cpu_seconds(), worst = 0, pairs = 0;

	if (!between)
		return;
	for (int r = 0; r < b->comm->ranks; r++)
		for (int64_t e = b->comm->row[r]; e < b->comm->row[r + 1];
		     e++) {
			int from = cpl_network_router(net, b->rank_node[r]);
			int to = cpl_network_router(
			        net, b->rank_node[b->comm->to[e]]);
			double *at =
			        &between[(size_t)from * (size_t)n + (size_t)to];

			pairs += from != to && !(*at > 0);
			*at += b->comm->bytes[e];
		}
	if (pairs * n * 2 > MAX_ROUTES) {
		free(between);
		return;
	}
	for (int64_t l = 0; l < net->n_links; l++)
		b->brute[l] = 0;
	for (int from = 0; from < n; from++)
		for (int to = 0; to < n; to++) {
			double bytes =
			        between[(size_t)from * (size_t)n + (size_t)to];

			for (int i = 0; i < n && from != to && bytes > 0; i++) {
				if (i == from || i == to)
					continue;
				cpl_routing_static_direct.add(net, from, i,
				                              bytes / (n - 2),
				                              b->brute);
				cpl_routing_static_direct.add(
				        net, i, to, bytes / (n - 2), b->brute);
			}
		}
	for (int64_t l = 0; l < net->n_links; l++)
		if (b->brute[l] > 0)
			worst = fmax(worst,
			             fabs(cpl_workload_load(b->workload)->link[l] / b->brute[l] - 1));
	printf("%-4s %-18s %10.2f ms  %.0f router pairs, largest relative "
	       "difference %.1e\n",
	       policy, "  enumerated", 1e3 * (cpu_seconds() - start), pairs, worst);
	free(between);
}

static void print_seconds(const char *policy, const char *what, double *seconds,
                          int n)
{
	qsort(seconds, (size_t)n, sizeof(*seconds), cpl_by_double);
	printf("%-6s %-18s median %9.2f us  p99 %9.2f us\n", policy, what,
	       1e6 * seconds[n / 2], 1e6 * seconds[n * 99 / 100]);
	fflush(stdout);
}

static void time_full(struct bench *b, const char *policy)
{
	double seconds[N_FULL];
	struct cpl_job job = {.routing = &cpl_routing_static_direct,
	                      .comm = b->comm,
	                      .node = b->rank_node};
	struct cpl_metrics m;
	struct cpl_job_sums sums;

	for (int i = 0; i < N_FULL; i++) {
		double start = cpu_seconds();

		if (cpl_workload_evaluate(b->workload, &job, NULL, &m, &sums,
		                          NULL))
			return;
		seconds[i] = cpu_seconds() - start;
	}
	print_seconds(policy, "SD, all metrics", seconds, N_FULL);
}

static int time_changes(struct bench *b, const char *policy,
                        struct cpl_error *err)
{
	static const char *const what[] = {"  rank moves", "  ranks swap"};
	static double seconds[N_CHANGES];
	uint64_t ranks = (uint64_t)b->comm->ranks;
	uint64_t nodes = (uint64_t)b->net->n_nodes;

	for (uint64_t kind = 0; kind < 2; kind++) {
		struct cpl_moves m;

		if (cpl_moves_init(&m, b->net, &cpl_routing_static_direct, NULL,
		                   0, NULL, err) ||
		    cpl_moves_job(&m, b->comm, b->rank_node, true, err) ||
		    cpl_moves_watch(&m, NULL, NULL, err))
			return -1;
		for (uint64_t i = 0; i < N_CHANGES; i++) {
			int rank = (int)cpl_random_below(1, kind, i, ranks);
			int other = (int)cpl_random_below(2, kind, i, ranks);
			int node = (int)cpl_random_below(3, kind, i, nodes);
			double start = cpu_seconds();

			if (kind == 0)
				cpl_moves_move(&m, rank, node);
			if (kind == 1)
				cpl_moves_swap(&m, rank, other);
			cpl_moves_links(&m);
			seconds[i] = cpu_seconds() - start;
			/* As a search that throws most away. */
			if (i % 4)
				cpl_moves_undo(&m);
			else
				cpl_moves_keep(&m);
		}
		print_seconds(policy, what[kind], seconds, N_CHANGES);
		cpl_moves_free(&m);
	}
	return 0;
}

static int place(struct bench *b, const char *policy, int nodes,
                 struct cpl_error *err)
{
	const struct cpl_network *net = b->net;
	const struct cpl_placement_policy *p =
	        cpl_placement_find(net->type, policy, err);
	unsigned char *free_nodes = malloc((size_t)net->n_nodes);
	int *node = malloc((size_t)net->n_nodes * sizeof(*node));
	struct cpl_placement_request req = {.net = net,
	                                    .free = free_nodes,
	                                    .n_nodes_wanted = nodes,
	                                    .seed = 1};
	int rc = -1;

	if (!free_nodes || !node) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < net->n_nodes; i++)
		free_nodes[i] = net->node_name[i] != NULL;
	if (!p || p->place(&req, node, err))
		goto out;
	for (int r = 0; r < b->comm->ranks; r++)
		b->rank_node[r] = node[r / PER_NODE];
	rc = 0;
out:
	free(free_nodes);
	free(node);
	return rc;
}

static int run_policy(struct bench *b, const char *policy, int nodes, int n,
                      char **name, struct cpl_error *err)
{
	if (place(b, policy, nodes, err))
		return -1;
	for (int i = 0; i < n; i++) {
		const struct cpl_routing *routing =
		        cpl_routing_find(b->net, name[i], err);

		if (!routing)
			return -1;
		run(b, policy, routing);
		if (routing == &cpl_routing_static_indirect)
			enumerate(b, policy);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char *all[] = {"SD", "SI", "AD", "AI", "AH"};
	static const char *const placements[] = {"linear", "RDN", "RDR", "RDC",
	                                         "RDG",    "RRN", "RRR"};
	struct cpl_error err = {"usage: bench_traffic NETWORK.json NODES "
	                        "[ROUTING...]"};
	int nodes = argc > 2 ? atoi(argv[2]) : 0, rc = 1;
	struct cpl_network *net =
	        nodes >= 8 ? cpl_network_load(argv[1], &err) : NULL;
	struct bench b = {.net = net};

	if (!net)
		goto out;
	b.comm = stencil(nodes);
	if (!b.comm)
		goto out;
	b.workload = cpl_workload_new(net, 1, &err);
	b.rank_node = malloc((size_t)b.comm->ranks * sizeof(*b.rank_node));
	b.brute = malloc(((size_t)net->n_links + 1) * sizeof(*b.brute));
	if (!b.workload || !b.rank_node || !b.brute)
		goto out;
	printf("%s: %d routers, %lld links; %d ranks on %d nodes\n", net->name,
	       net->n_routers, (long long)net->n_links, b.comm->ranks, nodes);
	rc = 0;
	for (int i = 0; i < 2 && !rc; i++)
		rc = run_policy(&b, i ? "RDN" : "RDR", nodes,
		                argc > 3 ? argc - 3 : 5,
		                argc > 3 ? argv + 3 : all, &err);
	for (int i = 0; i < 7 && !rc; i++) {
		rc = place(&b, placements[i], nodes, &err);
		if (rc)
			break;
		time_full(&b, placements[i]);
		rc = time_changes(&b, placements[i], &err);
	}
out:
	if (rc)
		fprintf(stderr, "bench_traffic: %s\n", err.text);
	cpl_workload_free(b.workload);
	cpl_comm_free((struct cpl_comm *)b.comm);
	cpl_network_free(net);
	free(b.rank_node);
	free(b.brute);
	return rc != 0;
}
