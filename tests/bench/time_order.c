/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Do figures of the traffic model order placements as their simulated time does?
 *
 *   time_order PLACEMENTS [ROWS.csv]
 *
 * Random placements of a job of 128 ranks on 64 nodes, six patterns, three
 * networks: torus, dragonfly, fat tree. Placement i is of blocks of 2^(i mod 7)
 * neighbouring nodes, drawn and in an order that is drawn. Each is simulated
 * packet by packet on minimal paths, with the network's adaptive routing, and as
 * flows. Printed for each network and pattern, and as means over them: the part
 * of pairs of placements that a figure orders as the time does (Jain 2016, 4.3).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "learn/concordant.h"
#include "learn/features.h"
#include "simulate/simulate.h"

#define RANKS 128
#define PER_NODE 2
#define NODES (RANKS / PER_NODE)
#define MOST 1000 /* placements */

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "

static const struct {
	const char *name, *text, *adaptive;
} network[] = {
        {"torus",
         HEAD "\"name\": \"torus\", \"type\": \"torus\", \"dims\": [8, 8, 8], "
              "\"bandwidth\": {\"dim\": [4e9, 4e9, 4e9], \"injection\": "
              "8e9}, \"nodes\": \"n[0-511]\"}",
         "adaptive"},
        {"dragonfly",
         HEAD "\"name\": \"dragonfly\", \"type\": \"dragonfly\", \"groups\": "
              "17, \"rows\": 2, \"columns\": 4, \"nodes_per_router\": 4, "
              "\"global_links_per_group_pair\": 1, \"bandwidth\": {\"row\": "
              "5e9, \"column\": 15e9, \"global\": 5e9, \"injection\": 10e9}, "
              "\"nodes\": \"n[0-543]\"}",
         "ugal-g"},
        {"fat tree",
         HEAD "\"name\": \"fattree\", \"type\": \"fattree\", "
              "\"nodes_per_router\": 8, \"levels\": [{\"down\": 8, \"up\": 4, "
              "\"bandwidth\": 10e9}, {\"down\": 8, \"up\": 4, "
              "\"bandwidth\": 10e9}], \"bandwidth\": {\"injection\": 10e9}, "
              "\"nodes\": \"n[0-511]\"}",
         "adaptive"},
};
#define NETWORKS ((int)(sizeof(network) / sizeof(*network)))

static const struct {
	const char *name, *text;
} pattern[] = {
        {"halo 2-D", "{\"type\": \"stencil\", \"dims\": [16, 8], \"points\": "
                     "5, \"periodic\": true, \"bytes\": 262144}"},
        {"halo 3-D", "{\"type\": \"stencil\", \"dims\": [8, 4, 4], "
                     "\"points\": 27, \"periodic\": true, \"bytes\": [131072, "
                     "16384, 2048]}"},
        {"halo 4-D", "{\"type\": \"stencil\", \"dims\": [4, 4, 4, 2], "
                     "\"points\": 9, \"periodic\": true, \"bytes\": 131072}"},
        {"sub all-to-all", "{\"type\": \"many-to-many\", \"dims\": [4, 16, 2], "
                           "\"axis\": 1, \"bytes\": 32768}"},
        {"unstructured", "{\"type\": \"umesh\", \"ranks\": 128, \"range\": "
                         "30, \"degree\": [6, 20], \"bytes\": 65536, "
                         "\"seed\": 1}"},
        {"spread", "{\"type\": \"spread\", \"ranks\": 128, \"degree\": [6, "
                   "20], \"bytes\": 65536, \"seed\": 1}"},
};
#define PATTERNS ((int)(sizeof(pattern) / sizeof(*pattern)))

static const char *const mode[] = {"packets, minimal", "packets, adaptive",
                                   "flows"};
#define MODES ((int)(sizeof(mode) / sizeof(*mode)))

static void die(const char *what, const struct cpl_error *err)
{
	fprintf(stderr, "time_order: %s: %s\n", what, err->text);
	exit(1);
}

static struct cpl_signature *signature_of(int i)
{
	char text[1024];
	struct cpl_error err = {""};
	struct cpl_signature *sig;

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"p\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"p\", \"weight\": 1, \"pattern\": %s}]}",
	         RANKS, pattern[i].text);
	sig = cpl_signature_parse(text, strlen(text), "p", &err);
	if (!sig)
		die(pattern[i].name, &err);
	return sig;
}

/* Blocks of neighbours, the last one cut. */
static void place(const struct cpl_network *net, int i, int *node)
{
	int size = 1 << i % 7, n = net->n_nodes / size, got = 0;
	int *block = malloc((size_t)n * sizeof(*block));

	if (!block)
		exit(1);
	for (int b = 0; b < n; b++)
		block[b] = b;
	cpl_random_shuffle(block, n, 1, (uint64_t)i);
	for (int b = 0; got < NODES; b++)
		for (int k = 0; k < size && got < NODES; k++)
			node[got++] = block[b] * size + k;
	free(block);
}

static double simulate(const struct cpl_network *net,
                       const struct cpl_signature *sig, const int *node, int m,
                       const char *adaptive)
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
	        .link_latency = 5e-8,
	        .router_latency = 1e-7};
	struct cpl_error err = {""};
	struct cpl_sim_result r;
	int rank_node[RANKS];
	double seconds;

	if (m == 1)
		o.choice = (const void *)cpl_registry_find(
		        &cpl_sim_routings, adaptive, strlen(adaptive), NULL,
		        NULL);
	for (int i = 0; i < RANKS; i++)
		rank_node[i] = node[i / PER_NODE];
	if (cpl_simulate(&o,
	                 &(struct cpl_sim_job){.sig = sig,
	                                       .rank_node = rank_node},
	                 1, &r, &err))
		die("simulate", &err);
	seconds = r.seconds;
	cpl_sim_result_free(&r);
	return seconds;
}

/* One placement after the other: its figures by column, and its times. */
struct rows {
	double figure[CPL_FEATURES][MOST], seconds[MODES][MOST];
};

static void fill(struct rows *rows, int n, const struct cpl_network *net, int k,
                 int p, FILE *csv)
{
	struct cpl_signature *sig = signature_of(p);
	struct cpl_error err = {""};
	int node[NODES];

	for (int i = 0; i < n; i++) {
		double value[CPL_FEATURES];

		place(net, i, node);
		if (cpl_features(
		            &(struct cpl_feature_job){
		                    .net = net,
		                    .routing = cpl_routing_minimal(net),
		                    .comm = sig->phase->comm,
		                    .phase = sig->phase,
		                    .n_phases = 1,
		                    .ranks_per_node = PER_NODE,
		                    .node = node},
		            value, &err))
			die("features", &err);
		if (csv)
			fprintf(csv, "%s,%s,%d", network[k].name,
			        pattern[p].name, i);
		for (int f = 0; f < CPL_FEATURES; f++) {
			rows->figure[f][i] = value[f];
			if (csv)
				fprintf(csv, ",%.17g", value[f]);
		}
		for (int m = 0; m < MODES; m++) {
			rows->seconds[m][i] = simulate(net, sig, node, m,
			                               network[k].adaptive);
			if (csv)
				fprintf(csv, ",%.17g", rows->seconds[m][i]);
		}
		if (csv)
			putc('\n', csv);
	}
	cpl_signature_free(sig);
}

static void print_row(const char *a, const char *b, const char *c,
                      const double *part, double spread)
{
	printf("| %s | %s | %s |", a, b, c);
	for (int f = 0; f < CPL_FEATURES; f++)
		printf(" %.3f |", part[f]);
	printf(" %.2f |\n", spread);
}

int main(int argc, char **argv)
{
	static double mean[MODES][CPL_FEATURES], least[MODES][CPL_FEATURES];
	static struct rows rows;
	int n = argc > 1 ? atoi(argv[1]) : 0;
	FILE *csv = argc > 2 ? fopen(argv[2], "w") : NULL;

	if (n < 2 || n > MOST || (argc > 2 && !csv)) {
		fprintf(stderr, "usage: time_order PLACEMENTS [ROWS.csv]\n");
		return 2;
	}
	printf("| network | pattern | simulated |");
	for (int f = 0; f < CPL_FEATURES; f++)
		printf(" %s |", cpl_feature_name[f]);
	printf(" slowest / fastest |\n|---|---|---|");
	for (int f = 0; f <= CPL_FEATURES; f++)
		printf("---|");
	putchar('\n');
	if (csv) {
		fprintf(csv, "network,pattern,placement");
		for (int f = 0; f < CPL_FEATURES; f++)
			fprintf(csv, ",%s", cpl_feature_name[f]);
		fprintf(csv, ",minimal,adaptive,flows\n");
	}
	for (int m = 0; m < MODES; m++)
		for (int f = 0; f < CPL_FEATURES; f++)
			least[m][f] = 1;
	for (int k = 0; k < NETWORKS; k++) {
		struct cpl_error err = {""};
		struct cpl_network *net =
		        cpl_network_parse(network[k].text,
		                          strlen(network[k].text),
		                          network[k].name, &err);

		if (!net)
			die(network[k].name, &err);
		for (int p = 0; p < PATTERNS; p++) {
			fill(&rows, n, net, k, p, csv);
			for (int m = 0; m < MODES; m++) {
				double part[CPL_FEATURES], top = 0;
				double low = INFINITY;

				for (int i = 0; i < n; i++) {
					top = fmax(top, rows.seconds[m][i]);
					low = fmin(low, rows.seconds[m][i]);
				}
				for (int f = 0; f < CPL_FEATURES; f++) {
					if (cpl_concordant(rows.figure[f],
					                   rows.seconds[m], n,
					                   &part[f], &err))
						die(network[k].name, &err);
					mean[m][f] += part[f] /
					              (NETWORKS * PATTERNS);
					least[m][f] = fmin(least[m][f],
					                   part[f]);
				}
				print_row(network[k].name, pattern[p].name,
				          mode[m], part, top / low);
			}
			fflush(stdout);
		}
		cpl_network_free(net);
	}
	for (int m = 0; m < MODES; m++) {
		print_row("all", "mean", mode[m], mean[m], 0);
		print_row("all", "least", mode[m], least[m], 0);
	}
	return csv && fclose(csv) ? 1 : 0;
}
