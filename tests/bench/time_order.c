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
 * flows. Figures are of minimal routing; where packets adapt once more of one that
 * spreads flows as wide ("spread"). "Told" are the seconds that commplace traffic
 * tells, where packets adapt by the routing that has their rule. "x 0.95", "x 2" and "x
 * 16" are the simulation's own with packets and buffers so many times as large, which is
 * what a model without each packet can be asked for at most. Printed for each
 * network and pattern, and as means over them: the part of pairs of placements that a
 * figure orders as the time does (Jain 2016, 4.3).
 */
#include "learn/concordant.h"
#include "learn/features.h"
#include "time_cases.h"
#include "traffic/times.h"

#define MOST 1000 /* placements */
#define SIZES 3   /* of other packets */

/* Packets and buffers `times` as large. */
static double simulate(const struct cpl_network *net,
                       const struct cpl_signature *sig, const int *node, int m,
                       int k, double times)
{
	struct cpl_sim_options o = options_of(net, k, m);

	o.packet *= times;
	o.buffer *= times;
	return simulate_alone(&o, sig, node);
}

/* One placement after the other: its figures by column, and its times. */
struct rows {
	double figure[2][CPL_FEATURES][MOST], seconds[MODES][MOST];
	double told[2][MOST]; /* by the routing in force: minimal, adaptive */
	double coarse[SIZES][2][MOST]; /* packets so many times as large, the same */
};
static const double times[SIZES] = {0.95, 2, 16};

/* Columns: figures, told, and those of other packets. */
#define COLUMNS (CPL_FEATURES + 1 + SIZES)

static const double *column(const struct rows *rows, int wide, int m, int c)
{
	int adapts = m == 1;

	return c < CPL_FEATURES    ? rows->figure[wide][c]
	       : c == CPL_FEATURES ? rows->told[adapts]
	                           : rows->coarse[c - CPL_FEATURES - 1][adapts];
}

/* What is compared: figures of minimal routing or of a wider one, and times. */
static const struct {
	int wide, mode;
	const char *name;
} table[] = {{0, 0, "packets, minimal"},
             {0, 1, "packets, adaptive"},
             {1, 1, "packets, adaptive; spread"},
             {0, 2, "flows"}};
#define TABLES ((int)(sizeof(table) / sizeof(*table)))

static void figures(const struct cpl_network *net,
                    const struct cpl_routing *routing,
                    const struct cpl_signature *sig, const int *node,
                    double *value)
{
	struct cpl_error err = {""};

	if (!routing ||
	    cpl_features(
	            &(struct cpl_feature_job){.net = net,
	                                      .routing = routing,
	                                      .comm = sig->phase->comm,
	                                      .phase = sig->phase,
	                                      .n_phases = 1,
	                                      .ranks_per_node = PER_NODE,
	                                      .node = node},
	            value, &err))
		die("features", &err);
}

/* The seconds that `commplace traffic` tells. */
static double tell(const struct cpl_network *net,
                   const struct cpl_routing *routing,
                   const struct cpl_signature *sig, const int *node)
{
	struct cpl_error err = {""};
	struct cpl_times_space *space =
	        routing ? cpl_times_space_adaptive(net, routing, &err) : NULL;
	const struct cpl_times_job job = {.phase = sig->phase,
	                                  .n_phases = 1,
	                                  .ranks = RANKS,
	                                  .ranks_per_node = PER_NODE,
	                                  .n_hosts = NODES,
	                                  .node = node};
	struct cpl_times_result told;

	if (!space || cpl_times_of(space, &job, NULL, &told, &err))
		die("times", &err);
	cpl_times_space_free(space);
	return told.seconds;
}

static void fill(struct rows *rows, int n, const struct cpl_network *net, int k,
                 int p, FILE *csv)
{
	struct cpl_signature *sig = signature_of(p, RANKS, 1, 1, 0, 0);
	int node[NODES];

	for (int i = 0; i < n; i++) {
		double value[2][CPL_FEATURES];

		place_blocks(net, i, node);
		figures(net, cpl_routing_minimal(net), sig, node, value[0]);
		figures(net, cpl_routing_find(net, network[k].spread, NULL),
		        sig, node, value[1]);
		rows->told[0][i] =
		        tell(net, cpl_routing_minimal(net), sig, node);
		rows->told[1][i] = tell(
		        net, cpl_routing_find(net, network[k].told, NULL), sig,
		        node);
		if (csv)
			fprintf(csv, "%s,%s,%d", network[k].name,
			        pattern[p], i);
		for (int f = 0; f < CPL_FEATURES; f++) {
			for (int w = 0; w < 2; w++)
				rows->figure[w][f][i] = value[w][f];
			if (csv)
				fprintf(csv, ",%.17g", value[0][f]);
		}
		for (int m = 0; m < MODES; m++) {
			rows->seconds[m][i] =
			        simulate(net, sig, node, m, k, 1);
			for (int c = 0; c < SIZES && m < 2; c++)
				rows->coarse[c][m][i] = simulate(
				        net, sig, node, m, k, times[c]);
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
	for (int f = 0; f < COLUMNS; f++)
		printf(" %.3f |", part[f]);
	printf(" %.2f |\n", spread);
}

int main(int argc, char **argv)
{
	static double mean[TABLES][COLUMNS], least[TABLES][COLUMNS];
	static struct rows rows;
	int n = argc > 1 ? atoi(argv[1]) : 0;
	FILE *csv = argc > 2 ? fopen(argv[2], "w") : NULL;
	struct cpl_error err = {""};

	if (n < 2 || n > MOST || (argc > 2 && !csv)) {
		fprintf(stderr, "usage: time_order PLACEMENTS [ROWS.csv]\n");
		return 2;
	}
	printf("| network | pattern | simulated |");
	for (int f = 0; f < CPL_FEATURES; f++)
		printf(" %s |", cpl_feature_name[f]);
	printf(" told | x 0.95 | x 2 | x 16 | slowest / fastest |\n|---|---|---|");
	for (int f = 0; f <= COLUMNS; f++)
		printf("---|");
	putchar('\n');
	if (csv) {
		fprintf(csv, "network,pattern,placement");
		for (int f = 0; f < CPL_FEATURES; f++)
			fprintf(csv, ",%s", cpl_feature_name[f]);
		fprintf(csv, ",minimal,adaptive,flows\n");
	}
	for (int t = 0; t < TABLES; t++)
		for (int f = 0; f < COLUMNS; f++)
			least[t][f] = 1;
	for (int k = 0; k < NETWORKS; k++) {
		struct cpl_network *net = load_network(k);

		for (int p = 0; p < PATTERNS; p++) {
			fill(&rows, n, net, k, p, csv);
			for (int t = 0; t < TABLES; t++) {
				double part[COLUMNS], top = 0;
				double low = INFINITY;
				const double *seconds =
				        rows.seconds[table[t].mode];

				for (int i = 0; i < n; i++) {
					top = fmax(top, seconds[i]);
					low = fmin(low, seconds[i]);
				}
				for (int f = 0; f < COLUMNS; f++) {
					if (cpl_concordant(
					            column(&rows, table[t].wide,
					                   table[t].mode, f),
					            seconds, n, &part[f], &err))
						die(network[k].name, &err);
					mean[t][f] += part[f] /
					              (NETWORKS * PATTERNS);
					least[t][f] = fmin(least[t][f],
					                   part[f]);
				}
				print_row(network[k].name, pattern[p],
				          table[t].name, part, top / low);
			}
			fflush(stdout);
		}
		cpl_network_free(net);
	}
	for (int t = 0; t < TABLES; t++) {
		print_row("all", "mean", table[t].name, mean[t], 0);
		print_row("all", "least", table[t].name, least[t], 0);
	}
	return csv && fclose(csv) ? 1 : 0;
}
