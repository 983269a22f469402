/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time of one decision and what it gains: jobs of 2 .. 512 nodes with a
 * 4-D stencil of 24 ranks per node on a half-filled dragonfly of Edison's size
 * (5,760 nodes), each policy against linear. Usage: bench_decide
 * NETWORK.json [NODES].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "mapping/quick.h"
#include "mapping/mappers.h"
#include "placement/decide.h"
#include "stencil_job.h"

static int run_policy(struct cpl_decide_request *req, const char *policy,
                      const struct cpl_mapper *with, double *linear,
                      struct cpl_error *err)
{
	struct cpl_decision d;
	struct cpl_figures f;
	double start = cpu_seconds(), seconds;

	req->wish.policy = cpl_placement_find(NULL, policy, NULL);
	req->wish.mapper = with;
	if (cpl_decide(req, &d, err))
		return -1;
	seconds = cpu_seconds() - start;
	cpl_candidate_figures(&d.candidate[d.chosen], &f);
	if (!strcmp(policy, "linear"))
		*linear = f.metrics.max_congestion;
	printf("%5d  %-20s %-7s %8.2f ms  %3d candidates  max %.4g s  %+6.1f %%  "
	       "mean %.4g s\n",
	       d.n_nodes, policy, with ? with->name : "", 1e3 * seconds, d.n_candidates,
	       f.metrics.max_congestion,
	       100 * (f.metrics.max_congestion / *linear - 1),
	       f.metrics.mean_congestion);
	cpl_decision_free(&d);
	return 0;
}

static int run_mapping(const struct cpl_decide_request *req,
                       const struct cpl_mapper *mapper,
                       struct cpl_error *err)
{
	int n = req->place.n_nodes_wanted, rc = -1;
	int *host = malloc((size_t)n * sizeof(*host));
	int *slots = malloc((size_t)n * sizeof(*slots));
	struct cpl_map_request map = {
	        .net = req->place.net,
	        .routing = req->routing,
	        .comm = req->comm,
	        .n_hosts = n,
	        .host = host,
	        .slots = slots,
	        .background = req->background,
	};
	struct cpl_map_result r;
	double start = cpu_seconds();

	if (!host || !slots) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < n; i++)
		slots[i] = PER_NODE;
	if (cpl_placement_find(map.net->type, "random-routers", err)
	            ->place(&req->place, host, err) ||
	    cpl_map(mapper, &map, &r, err))
		goto out;
	printf("%5d  %-20s %8.2f ms  %6d ranks  max %.4g s  %+6.1f %%  "
	       "hop-bytes %+.1f %%\n",
	       n, mapper->name, 1e3 * (cpu_seconds() - start), req->comm->ranks,
	       r.after.max_congestion,
	       100 * (r.after.max_congestion / r.before.max_congestion - 1),
	       100 * (r.sums_after.hop_bytes / r.sums_before.hop_bytes - 1));
	cpl_map_result_free(&r);
	rc = 0;
out:
	free(host);
	free(slots);
	return rc;
}

/* Half of the routers taken by a job that talks to random partners. */
static int run_size(const struct cpl_network *net,
                    const struct cpl_routing *routing, int nodes,
                    struct cpl_error *err)
{
	static const char *const policy[] = {
	        "linear",
	        "random-nodes",
	        "random-routers",
	        "random-chassis",
	        "random-groups",
	        "round-robin-nodes",
	        "round-robin-routers",
	        "auto",
	        "traffic",
	};
	struct cpl_load background = {0};
	unsigned char *free_node = malloc((size_t)net->n_nodes);
	struct cpl_comm *comm = stencil(nodes);
	struct cpl_decide_request req = {
	        .place =
	                {
	                        .net = net,
	                        .free = free_node,
	                        .n_nodes_wanted = nodes,
	                        .seed = 1,
	                },
	        .routing = routing,
	        .comm = comm,
	        .ranks_per_node = PER_NODE,
	        .background = &background,
	};
	double linear = 1;
	int rc = -1;

	if (!free_node || !comm || cpl_load_init(&background, net, err))
		goto out;
	for (int i = 0; i < net->n_nodes; i++)
		free_node[i] = cpl_random_below(3, 0, (uint64_t)(i / 16), 2);
	for (int r = 0; r < net->n_routers; r++) {
		int to = (int)cpl_random_below(4, 0, (uint64_t)r,
		                               (uint64_t)net->n_routers);

		if (!free_node[r * net->nodes_per_router])
			routing->add(net, r, to, 20 * BYTES, background.link);
	}
	for (size_t i = 0; i < sizeof(policy) / sizeof(*policy); i++)
		if (run_policy(&req, policy[i], NULL, &linear, err))
			goto out;
	if (run_policy(&req, "auto", &cpl_mapper_quick, &linear, err) ||
	    run_policy(&req, "traffic", &cpl_mapper_quick, &linear, err))
		goto out;
	/* Where the rank order may not arrive, and where it does not. */
	for (req.order = CPL_ORDER_MAY; req.order <= CPL_ORDER_NOT; req.order++)
		if (run_policy(&req, "auto", &cpl_mapper_quick, &linear, err) ||
		    run_policy(&req, "traffic", &cpl_mapper_quick, &linear,
		               err))
			goto out;
	req.order = CPL_ORDER_REACHES;
	rc = run_mapping(&req, &cpl_mapper_greedyallc, err);
	if (!rc)
		rc = run_mapping(&req, &cpl_mapper_quick, err);
	printf("\n");
out:
	free(free_node);
	cpl_comm_free(comm);
	cpl_load_free(&background);
	return rc;
}

int main(int argc, char **argv)
{
	static const int nodes[] = {2, 16, 64, 128, 256, 512};
	struct cpl_error err = {""};
	const struct cpl_routing *routing;
	struct cpl_network *net;
	int rc = 0;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: bench_decide NETWORK.json [NODES]\n");
		return 2;
	}
	net = cpl_network_load(argv[1], &err);
	routing = net ? cpl_routing_find(net, "static-direct", &err) : NULL;
	if (routing)
		for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes) && !rc;
		     i++)
			if (argc < 3 || nodes[i] == atoi(argv[2]))
				rc = run_size(net, routing, nodes[i], &err);
	if (!routing || rc)
		fprintf(stderr, "bench_decide: %s\n", err.text);
	cpl_network_free(net);
	return !routing || rc;
}
