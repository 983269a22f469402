/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Networks, signatures and runs of the simulator's tests. */
#pragma once

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "network_text.h"
#include "simulate/simulate.h"
#include "traffic/workload.h"

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "
#define NODES10 "\"bandwidth\": {\"dim\": [1e9], \"injection\": 10e9}, "
#define CHAIN                                                                  \
	HEAD "\"type\": \"torus\", \"dims\": [5], \"wrap\": [false], " NODES10 \
	     "\"nodes\": \"n[0-4]\"}"
#define RING                                                                   \
	HEAD "\"type\": \"torus\", \"dims\": [8], " NODES10                    \
	     "\"nodes\": \"n[0-7]\"}"
#define TORUS                                                                  \
	HEAD "\"type\": \"torus\", \"dims\": [4, 4, 3], \"bandwidth\": "       \
	     "{\"dim\": [1e9, 2e9, 3e9], \"injection\": 4e9}, "                \
	     "\"nodes\": \"n[0-47]\"}"
#define MESH                                                                   \
	HEAD "\"type\": \"torus\", \"dims\": [4, 6], \"wrap\": [false, "       \
	     "false], \"nodes_per_router\": 2, \"nodes\": \"n[0-47]\"}"
/* One router, nodes of 1 GB/s. */
#define STAR_OF(n, nodes)                                                      \
	HEAD "\"type\": \"torus\", \"dims\": [1], \"nodes_per_router\": " n    \
	     ", \"bandwidth\": {\"injection\": 1e9}, \"nodes\": \"" nodes      \
	     "\"}"
#define STAR STAR_OF("6", "n[0-5]")
#define STAR8 STAR_OF("8", "n[0-7]")
#define DRAGONFLY                                                              \
	HEAD "\"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "           \
	     "\"columns\": 3, \"nodes_per_router\": 2, "                       \
	     "\"global_links_per_group_pair\": 2, \"bandwidth\": {\"row\": "   \
	     "2e9, \"column\": 3e9, \"global\": 4e9, \"injection\": 5e9}, "    \
	     "\"nodes\": \"n[0-47]\"}"

#define PORTS(use)                                                             \
	HEAD "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 1, "           \
	     "\"columns\": 4, \"nodes_per_router\": 2, \"ports\": "            \
	     "{\"count\": 2, \"use\": \"" use                                  \
	     "\", \"bandwidth\": [1, 3]}, \"nodes\": \"n[0-7]\"}"

#define SIGNATURE(ranks, traffic)                                              \
	"{\"format\": \"commplace-signature\", \"version\": 1, \"name\": "     \
	"\"s\", \"ranks\": " ranks ", \"phases\": [{\"name\": \"p\", "         \
	"\"weight\": 1, " traffic "}]}"

#define COLLECTIVE(operation, algorithm, ranks, bytes)                         \
	SIGNATURE(ranks,                                                       \
	          "\"pattern\": {\"type\": \"collective\", \"operation\": "    \
	          "\"" operation "\", \"algorithm\": \"" algorithm             \
	          "\", \"ranks\": " ranks ", \"bytes\": " bytes "}")

static inline struct cpl_signature *parse_signature(const char *text)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig =
	        cpl_signature_parse(text, strlen(text), "sig", &err);

	if (!sig)
		fail_msg("%s: %s", text, err.text);
	return sig;
}

/* Nothing but bandwidths count, and all is exact. */
static inline struct cpl_sim_options sim_defaults(const struct cpl_network *net)
{
	return (struct cpl_sim_options){.net = net,
	                                .level = &cpl_sim_flow,
	                                .routing = cpl_routing_minimal(net),
	                                .executions = 1,
	                                .speed = 1,
	                                .eager = INFINITY};
}

/* What `given` says, the rest by default. */
static inline struct cpl_sim_options
sim_options(const struct cpl_network *net, const struct cpl_sim_options *given)
{
	struct cpl_sim_options o = *given, d = sim_defaults(net);

	o.net = net;
	o.level = o.level ? o.level : d.level;
	o.routing = o.routing ? o.routing : d.routing;
	o.executions = o.executions ? o.executions : 1;
	o.speed = o.speed > 0 ? o.speed : 1;
	o.eager = o.eager > 0 ? o.eager : d.eager;
	o.lanes = o.lanes ? o.lanes : 1;
	o.packet = o.packet > 0 ? o.packet : 1000;
	return o;
}

/* One job, rank r on node r. */
static inline struct cpl_sim_result
simulate_on(const struct cpl_network *net, const struct cpl_signature *sig,
            const struct cpl_sim_options *given)
{
	struct cpl_sim_options o = sim_options(net, given);
	int *node = malloc((size_t)sig->ranks * sizeof(*node));
	struct cpl_sim_result result;
	struct cpl_error err = {""};

	assert_non_null(node);
	for (int r = 0; r < sig->ranks; r++)
		node[r] = r;
	if (cpl_simulate(&o,
	                 &(struct cpl_sim_job){.sig = sig, .rank_node = node},
	                 1, &result, &err))
		fail_msg("%s", err.text);
	free(node);
	return result;
}

static inline struct cpl_sim_result
simulate_text(const char *network, const char *signature,
              const struct cpl_sim_options *given)
{
	struct cpl_network *net = parse_network(network);
	struct cpl_signature *sig = parse_signature(signature);
	struct cpl_sim_result result = simulate_on(net, sig, given);

	cpl_signature_free(sig);
	cpl_network_free(net);
	return result;
}

/* 48 ranks, 200 messages of all sizes. */
static inline void uneven_signature(char *text, size_t size, uint64_t seed)
{
	size_t n = (size_t)snprintf(
	        text, size,
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"name\": \"s\", \"ranks\": 48, \"phases\": [{\"name\": "
	        "\"p\", \"weight\": 1, \"traffic\": [[0, 1, 1000, 1]");

	for (int i = 0; i < 200; i++) {
		int from = (int)cpl_random_below(seed, 1, i, 48);
		int to = (int)cpl_random_below(seed, 2, i, 47);

		n += (size_t)snprintf(
		        text + n, size - n, ", [%d, %d, %d, 1]", from,
		        to + (to >= from),
		        1000 + (int)cpl_random_below(seed, 3, i, 1000000));
	}
	snprintf(text + n, size - n, "]}]}");
}

struct sim_case {
	const char *network, *routing;
	bool spread; /* over paths or ports, more than packets divide into */
};

static const struct sim_case sim_case[] = {
        {TORUS, NULL, false},
        {TORUS, "adaptive-minimal", true},
        {MESH, NULL, false},
        {DRAGONFLY, "SD", false},
        {STAR, NULL, false},
        {PORTS("spread"), NULL, true},
        {PORTS("round-robin"), NULL, false},
};
#define N_CASES (sizeof(sim_case) / sizeof(*sim_case))

/* Simulated bytes of every link beside those of the traffic model, in which a
 * part of `error` may differ. */
static inline void compare_with_model(const struct sim_case *c,
                                      const struct cpl_sim_options *given,
                                      double error)
{
	struct cpl_network *net = parse_network(c->network);
	char text[256];
	struct cpl_sim_options o = *given;
	struct cpl_sim_result r;
	struct cpl_signature *sig;
	struct cpl_workload *w;
	struct cpl_rows *rows;
	struct cpl_job job = {0};
	const struct cpl_load *load;
	int node[48];

	snprintf(text, sizeof(text),
	         SIGNATURE("%d", "\"pattern\": {\"type\": \"spread\", "
	                         "\"ranks\": %d, \"degree\": [3, 5], "
	                         "\"bytes\": 48000, \"seed\": 3}"),
	         net->n_nodes, net->n_nodes);
	sig = parse_signature(text);
	for (int i = 0; i < net->n_nodes; i++)
		node[i] = i;
	o.routing = cpl_routing_find(net, c->routing, NULL);
	r = simulate_on(net, sig, &o);
	w = cpl_workload_new(net, 1, NULL);
	rows = cpl_rows_new(sig, NULL, NULL);
	assert_non_null(rows);
	job.routing = o.routing;
	job.comm = sig->phase->comm;
	job.rows = rows;
	job.node = node;
	assert_int_equal(cpl_workload_add(w, &job, NULL), 0);
	assert_int_equal(cpl_workload_solve(w, NULL), 0);
	load = cpl_workload_load(w);
	for (int64_t l = 0; l < net->n_links; l++)
		assert_float_equal(r.bytes.link[l], load->link[l],
		                   error * load->link[l]);
	for (int64_t i = 0; i < cpl_network_port_cables(net); i++) {
		assert_float_equal(r.bytes.injection[i], load->injection[i],
		                   error * load->injection[i]);
		assert_float_equal(r.bytes.ejection[i], load->ejection[i],
		                   error * load->ejection[i]);
		assert_true(r.busy.injection[i] <= r.seconds * (1 + 1e-9));
	}
	cpl_rows_free(rows);
	cpl_workload_free(w);
	cpl_sim_result_free(&r);
	cpl_signature_free(sig);
	cpl_network_free(net);
}
