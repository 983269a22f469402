/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the benchmarks of time have in common: machines of some 500 nodes, patterns
 * of 2^k ranks (k from 5 on), and how a run of jobs is simulated. All have the first
 * three machines and six patterns, time_error the others, too.
 */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "simulate/simulate.h"

#define PER_NODE 2 /* ranks */
/* Of a job that is simulated alone. */
#define RANKS 128
#define NODES (RANKS / PER_NODE)

#define HEAD \
	"{\"format\": \"commplace-network\", \"version\": 1, " \
	"\"latency\": {\"link\": 5e-8, \"router\": 1e-7}, "

static const struct {
	const char *name, *text;
	const char *adaptive; /* how packets adapt, */
	const char *spread;   /* a routing by flow that spreads as wide, */
	const char *told;     /* and the one that seconds are told by then */
} network[] = {
        {"torus",
         HEAD "\"name\": \"torus\", \"type\": \"torus\", \"dims\": [8, 8, 8], "
              "\"bandwidth\": {\"dim\": [4e9, 4e9, 4e9], \"injection\": "
              "8e9}, \"nodes\": \"n[0-511]\"}",
         "adaptive", "adaptive-minimal", "adaptive"},
        {"dragonfly",
         HEAD "\"name\": \"dragonfly\", \"type\": \"dragonfly\", \"groups\": "
              "17, \"rows\": 2, \"columns\": 4, \"nodes_per_router\": 4, "
              "\"global_links_per_group_pair\": 1, \"bandwidth\": {\"row\": "
              "5e9, \"column\": 15e9, \"global\": 5e9, \"injection\": 10e9}, "
              "\"nodes\": \"n[0-543]\"}",
         "ugal-g", "static-indirect-sampled", "ugal-g"},
        {"fat tree",
         HEAD "\"name\": \"fattree\", \"type\": \"fattree\", "
              "\"nodes_per_router\": 8, \"levels\": [{\"down\": 8, \"up\": 4, "
              "\"bandwidth\": 10e9}, {\"down\": 8, \"up\": 4, "
              "\"bandwidth\": 10e9}], \"bandwidth\": {\"injection\": 10e9}, "
              "\"nodes\": \"n[0-511]\"}",
         "adaptive", "ecmp", "adaptive"},
        {"dragonfly+",
         HEAD "\"name\": \"dfplus\", \"type\": \"dragonfly+\", \"cells\": 8, "
              "\"leaves\": 8, \"spines\": 8, \"global_links_per_cell_pair\": "
              "8, \"nodes_per_router\": 8, \"bandwidth\": {\"up\": 10e9, "
              "\"down\": 10e9, \"global\": 10e9, \"injection\": 10e9}, "
              "\"nodes\": \"n[0-511]\"}",
         "ugal-g", "ecmp", "ugal-g"},
};
#define ALL_NETWORKS ((int)(sizeof(network) / sizeof(*network)))
#define NETWORKS (ALL_NETWORKS - 1)

static const char *const pattern[] = {"halo 2-D",       "halo 3-D",
                                      "halo 4-D",       "sub all-to-all",
                                      "unstructured",   "spread",
                                      "ring",           "shift",
                                      "permutation",    "all-to-all",
                                      "allreduce",      "halving"};
#define ALL_PATTERNS ((int)(sizeof(pattern) / sizeof(*pattern)))
#define PATTERNS 6

static inline void die(const char *what, const struct cpl_error *err)
{
	fprintf(stderr, "%s: %s\n", what, err->text);
	exit(1);
}

static inline struct cpl_network *load_network(int k)
{
	struct cpl_error err = {""};
	struct cpl_network *net = cpl_network_parse(
	        network[k].text, strlen(network[k].text), network[k].name,
	        &err);

	if (!net)
		die(network[k].name, &err);
	return net;
}

/* 2^k ranks in n dimensions, the first ones the longest. */
static inline void grid(int ranks, int n, char *text, size_t size)
{
	int k = 0, at = 0;

	while (1 << (k + 1) <= ranks)
		k++;
	for (int d = 0; d < n; d++)
		at += snprintf(text + at, size - (size_t)at, "%s%d",
		               d ? ", " : "", 1 << (k / n + (d < k % n)));
}

/* The pattern's generator; messages of 32 KB to 256 KB times scale. */
static inline void pattern_text(int p, int ranks, double scale, char *text,
                                size_t size)
{
	int range = ranks / 4 < 30 ? ranks / 4 : 30;
	int degree = p == 4 && range < 20 ? range : 20;
	char dims[64];

	switch (p) {
	case 0:
		grid(ranks, 2, dims, sizeof(dims));
		snprintf(text, size,
		         "{\"type\": \"stencil\", \"dims\": [%s], \"points\": "
		         "5, \"periodic\": true, \"bytes\": %.0f}",
		         dims, 262144 * scale);
		break;
	case 1:
		grid(ranks, 3, dims, sizeof(dims));
		snprintf(text, size,
		         "{\"type\": \"stencil\", \"dims\": [%s], \"points\": "
		         "27, \"periodic\": true, \"bytes\": [%.0f, %.0f, "
		         "%.0f]}",
		         dims, 131072 * scale, 16384 * scale, 2048 * scale);
		break;
	case 2:
		grid(ranks, 4, dims, sizeof(dims));
		snprintf(text, size,
		         "{\"type\": \"stencil\", \"dims\": [%s], \"points\": "
		         "9, \"periodic\": true, \"bytes\": %.0f}",
		         dims, 131072 * scale);
		break;
	case 3:
		snprintf(text, size,
		         "{\"type\": \"many-to-many\", \"dims\": [%d, 16, 2], "
		         "\"axis\": 1, \"bytes\": %.0f}",
		         ranks / 32, 32768 * scale);
		break;
	case 6:
		snprintf(text, size,
		         "{\"type\": \"stencil\", \"dims\": [%d], \"points\": 3, "
		         "\"periodic\": true, \"bytes\": %.0f}",
		         ranks, 262144 * scale);
		break;
	case 7:
		snprintf(text, size,
		         "{\"type\": \"permutation\", \"ranks\": %d, \"bytes\": "
		         "%.0f, \"shift\": %d}",
		         ranks, 262144 * scale, ranks / 2 - 3);
		break;
	case 8:
		snprintf(text, size,
		         "{\"type\": \"permutation\", \"ranks\": %d, \"bytes\": "
		         "%.0f, \"seed\": 1}",
		         ranks, 262144 * scale);
		break;
	case 9:
		snprintf(text, size,
		         "{\"type\": \"many-to-many\", \"dims\": [%d], \"axis\": "
		         "0, \"bytes\": %.0f}",
		         ranks, 8192 * scale);
		break;
	case 10:
	case 11:
		snprintf(text, size,
		         "{\"type\": \"collective\", \"operation\": \"allreduce\", "
		         "\"algorithm\": \"%s\", \"ranks\": %d, \"bytes\": %.0f}",
		         p == 10 ? "recursive-doubling" : "bine", ranks,
		         131072 * scale);
		break;
	default:
		snprintf(dims, sizeof(dims), "\"range\": %d, ", range);
		snprintf(text, size,
		         "{\"type\": \"%s\", \"ranks\": %d, %s\"degree\": "
		         "[6, %d], \"bytes\": %.0f, \"seed\": 1}",
		         p == 4 ? "umesh" : "spread", ranks,
		         p == 4 ? dims : "", degree, 65536 * scale);
	}
}

/* time, compute: seconds of one of `weight` executions; 0: not stated. */
static inline struct cpl_signature *
signature_of(int p, int ranks, double scale, double weight, double time,
             double compute)
{
	char text[1024], of[512], times[128] = "";
	struct cpl_error err = {""};
	struct cpl_signature *sig;

	pattern_text(p, ranks, scale, of, sizeof(of));
	if (time > 0)
		snprintf(times, sizeof(times),
		         "\"time\": %.17g, \"compute_time\": %.17g, ", time,
		         compute);
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"p\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"p\", \"weight\": %.0f, %s\"pattern\": %s}]}",
	         ranks, weight, times, of);
	sig = cpl_signature_parse(text, strlen(text), "p", &err);
	if (!sig)
		die(pattern[p], &err);
	return sig;
}

/* How a run is simulated: by packets of 4 KB on minimal paths (0), with the
 * network's adaptive routing (1), or as flows (2). */
static const char *const mode[] = {"packets, minimal", "packets, adaptive",
                                   "flows"};
#define MODES ((int)(sizeof(mode) / sizeof(*mode)))

static inline struct cpl_sim_options options_of(const struct cpl_network *net,
                                                int k, int m)
{
	struct cpl_sim_options o = {
	        .net = net,
	        .level = m == 2 ? &cpl_sim_flow : &cpl_sim_packet,
	        .routing = cpl_routing_minimal(net),
	        .executions = 1,
	        .speed = 1,
	        .eager = INFINITY,
	        .tolerance = 0.001,
	        .packet = 4096,
	        .buffer = 65536,
	        .lanes = 1,
	        .seed = 1,
	        .link_latency = net->class_latency[0],
	        .router_latency = net->router_latency};

	if (m == 1)
		o.choice = (const void *)cpl_registry_find(
		        &cpl_sim_routings, network[k].adaptive,
		        strlen(network[k].adaptive), NULL, NULL);
	return o;
}

/* Its placement i: blocks of 2^(i mod 7) neighbours that are drawn, the last one cut. */
static inline void place_blocks(const struct cpl_network *net, int i, int *node)
{
	int size = 1 << i % 7, n = net->n_nodes / size;
	int *block = malloc((size_t)n * sizeof(*block));

	if (!block)
		exit(1);
	for (int b = 0; b < n; b++)
		block[b] = b;
	cpl_random_shuffle(block, n, 1, (uint64_t)i);
	for (int k = 0; k < NODES; k++)
		node[k] = block[k / size] * size + k % size;
	free(block);
}

/* Its seconds. */
static inline double simulate_alone(const struct cpl_sim_options *options,
                                    const struct cpl_signature *sig,
                                    const int *node)
{
	struct cpl_error err = {""};
	struct cpl_sim_result r;
	int rank_node[RANKS];
	double seconds;

	for (int i = 0; i < RANKS; i++)
		rank_node[i] = node[i / PER_NODE];
	if (cpl_simulate(options,
	                 &(struct cpl_sim_job){.sig = sig,
	                                       .rank_node = rank_node},
	                 1, &r, &err))
		die("simulate", &err);
	seconds = r.seconds;
	cpl_sim_result_free(&r);
	return seconds;
}
