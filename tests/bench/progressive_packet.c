/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progressive-adaptive of the traffic model beside packets that adapt: bytes of
 * each link between routers of a run in which every node sends what it has at
 * once, to its end. Rows are a markdown table:
 *
 *   r      Pearson's r over links, model and packets
 *   minimal  the same of minimal routing, to see what adapting changes
 *   total, largest  model over packets
 *   detoured  part of the bytes between groups that took a detour: model,
 *          packets
 *   seeds  r of two runs of the packets that differ in what is drawn: where the
 *          links' true bytes are alike, no model can come much above its root
 *
 * Usage: progressive_packet [NETWORK] [PATTERN]	(numbers, -1: all)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "routing/progressive/groups.h"
#include "simulate/simulate.h"
#include "traffic/workload.h"
#include "messages_job.h"

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "

static const struct {
	const char *name, *text;
	int group;  /* nodes */
	int dim[3]; /* of the stencil */
} machine[] = {
        {"dragonfly, 9 groups of 4 routers",
         HEAD "\"type\": \"dragonfly\", \"groups\": 9, \"rows\": 1, "
              "\"columns\": 4, \"nodes_per_router\": 2, \"global_wiring\": "
              "\"palmtree\", \"bandwidth\": {\"row\": 12e9, \"global\": 12e9, "
              "\"injection\": 12e9}, \"nodes\": \"n[0-71]\"}",
         8,
         {3, 4, 6}},
        {"dragonfly, 8 groups of 3 x 4, 3 links",
         HEAD "\"type\": \"dragonfly\", \"groups\": 8, \"rows\": 3, "
              "\"columns\": 4, \"nodes_per_router\": 2, "
              "\"global_links_per_group_pair\": 3, \"bandwidth\": {\"row\": "
              "8e9, \"column\": 16e9, \"global\": 12e9, \"injection\": 12e9}, "
              "\"nodes\": \"n[0-191]\"}",
         24,
         {4, 6, 8}},
        {"dragonfly, 17 groups of 8, 2 links",
         HEAD "\"type\": \"dragonfly\", \"groups\": 17, \"rows\": 1, "
              "\"columns\": 8, \"nodes_per_router\": 4, "
              "\"global_links_per_group_pair\": 2, \"bandwidth\": {\"row\": "
              "25e9, \"global\": 25e9, \"injection\": 25e9}, "
              "\"nodes\": \"n[0-543]\"}",
         32,
         {4, 8, 17}},
        {"dragonfly+, 6 cells of 4 and 4, 4 links",
         HEAD "\"type\": \"dragonfly+\", \"cells\": 6, \"leaves\": 4, "
              "\"spines\": 4, \"nodes_per_router\": 4, "
              "\"global_links_per_cell_pair\": 4, \"bandwidth\": {\"up\": "
              "12e9, \"down\": 12e9, \"global\": 12e9, \"injection\": 12e9}, "
              "\"nodes\": \"n[0-95]\"}",
         16,
         {4, 4, 6}},
        {"dragonfly+, 11 cells of 6 and 5, 2 links",
         HEAD "\"type\": \"dragonfly+\", \"cells\": 11, \"leaves\": 6, "
              "\"spines\": 5, \"nodes_per_router\": 4, "
              "\"global_links_per_cell_pair\": 2, \"bandwidth\": {\"up\": "
              "25e9, \"down\": 25e9, \"global\": 25e9, \"injection\": 12.5e9}, "
              "\"nodes\": \"n[0-263]\"}",
         24,
         {6, 4, 11}},
};
#define MACHINES ((int)(sizeof(machine) / sizeof(*machine)))

enum { UNIFORM, STENCIL, GROUP_TO_GROUP, PATTERNS };
static const char *const pattern_name[] = {"uniform", "stencil",
                                           "group to group"};

/* Bytes of a message; in packets of 4096. */
static const struct {
	const char *name;
	double bytes;
} load[] = {{"low", 8192}, {"middle", 131072}, {"high", 2097152}};
#define LOADS ((int)(sizeof(load) / sizeof(*load)))

static void die(const char *what, const struct cpl_error *err)
{
	fprintf(stderr, "progressive_packet: %s: %s\n", what, err->text);
	exit(1);
}

/* Each node's place is drawn, another in each round. */
static void shuffle(int *to, int nodes, int round)
{
	for (int i = 0; i < nodes; i++)
		to[i] = i;
	for (int i = nodes - 1; i > 0; i--) {
		int k = (int)cpl_random_below(7, (uint64_t)round, (uint64_t)i,
		                              (uint64_t)i + 1);
		int other = to[k];

		to[k] = to[i];
		to[i] = other;
	}
}

/* Who sends to whom: how many of pair[], the most 10 a node. */
static int partners(int m, int pattern, int nodes, int (*pair)[2])
{
	const int *dim = machine[m].dim;
	int n = 0, to[1024];

	/* As much for each node as from it: ejection is not what is busy. */
	for (int i = 0; i < 10 && pattern == UNIFORM; i++) {
		shuffle(to, nodes, i);
		for (int r = 0; r < nodes; r++) {
			pair[n][0] = r;
			pair[n][1] = to[r];
			n += to[r] != r;
		}
	}
	for (int r = 0; r < nodes && pattern != UNIFORM; r++) {
		int at[3] = {r / (dim[1] * dim[2]), r / dim[2] % dim[1],
		             r % dim[2]};

		for (int i = 0; i < 6 && pattern == STENCIL; i++) {
			int next[3] = {at[0], at[1], at[2]}, d = i / 2;

			next[d] = (next[d] + (i % 2 ? 1 : dim[d] - 1)) % dim[d];
			pair[n][0] = r;
			pair[n++][1] =
			        (next[0] * dim[1] + next[1]) * dim[2] + next[2];
		}
		if (pattern == GROUP_TO_GROUP && r < machine[m].group) {
			pair[n][0] = r;
			pair[n++][1] = r + machine[m].group;
		}
	}
	return n;
}

static struct cpl_signature *signature_of(int nodes, int (*pair)[2], int n,
                                          double bytes, struct cpl_error *err)
{
	struct cpl_comm_entry *entry = calloc((size_t)n, sizeof(*entry));
	struct cpl_signature *sig;

	if (!entry)
		die("memory", err);
	for (int i = 0; i < n; i++)
		entry[i] = (struct cpl_comm_entry){pair[i][0], pair[i][1],
		                                   bytes, 1};
	sig = messages_job(nodes, entry, n, err);
	if (!sig)
		die("messages", err);
	free(entry);
	return sig;
}

/* Bytes of links [n_links], to be freed. */
static double *packets(const struct cpl_network *net,
                       const struct cpl_signature *sig, const int *node,
                       uint64_t seed)
{
	struct cpl_sim_options o = {CPL_SIM_DEFAULTS,
	                            .net = net,
	                            .level = &cpl_sim_packet,
	                            .routing = cpl_routing_minimal(net),
	                            .choice = &cpl_sim_progressive,
	                            .seed = seed};
	struct cpl_sim_job job = {.sig = sig, .rank_node = node};
	size_t size = (size_t)net->n_links * sizeof(double);
	double *bytes = malloc(size);
	struct cpl_error err = {""};
	struct cpl_sim_result r;

	/* All at once: nothing waits for its receiver. */
	o.eager = INFINITY;
	if (!bytes || cpl_simulate(&o, &job, 1, &r, &err))
		die("simulation", &err);
	memcpy(bytes, r.bytes.link, size);
	cpl_sim_result_free(&r);
	return bytes;
}

static double *model(const struct cpl_network *net, const char *routing,
                     const struct cpl_comm *comm, const int *node)
{
	struct cpl_error err = {""};
	struct cpl_job job = {.routing = cpl_routing_find(net, routing, &err),
	                      .comm = comm,
	                      .node = node};
	struct cpl_workload *w = cpl_workload_new(net, 1, &err);
	size_t size = (size_t)net->n_links * sizeof(double);
	double *bytes = malloc(size);

	if (!job.routing || !w || !bytes || cpl_workload_add(w, &job, &err) ||
	    cpl_workload_solve(w, &err))
		die(routing, &err);
	memcpy(bytes, cpl_workload_load(w)->link, size);
	cpl_workload_free(w);
	return bytes;
}

struct beside {
	double r, total, largest; /* a over b */
};

static struct beside compare(int64_t n, const double *a, const double *b)
{
	double sum[2] = {0}, most[2] = {0}, xy = 0, xx = 0, yy = 0;

	for (int64_t l = 0; l < n; l++) {
		sum[0] += a[l];
		sum[1] += b[l];
		most[0] = fmax(most[0], a[l]);
		most[1] = fmax(most[1], b[l]);
	}
	for (int64_t l = 0; l < n; l++) {
		double x = a[l] - sum[0] / (double)n;
		double y = b[l] - sum[1] / (double)n;

		xy += x * y;
		xx += x * x;
		yy += y * y;
	}
	return (struct beside){xy / sqrt(xx * yy), sum[0] / sum[1],
	                       most[0] / most[1]};
}

static double between_groups(const struct cpl_network *net, const double *bytes)
{
	struct cpl_linked_groups g = cpl_groups_of(net);
	double sum = 0;

	for (int64_t l = g.first; l < net->n_links; l++)
		sum += bytes[l];
	return sum;
}

static void row(int m, int pattern, int l)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(machine[m].text, strlen(machine[m].text),
	                          machine[m].name, &err);
	int n, *node, (*pair)[2];
	struct cpl_signature *sig;
	double *run[2], *all, *minimal, crossing;
	struct beside b, seeds, before;

	if (!net)
		die(machine[m].name, &err);
	node = calloc((size_t)net->n_nodes, sizeof(*node));
	pair = calloc(10 * (size_t)net->n_nodes + 1, sizeof(*pair));
	if (!node || !pair)
		die("memory", &err);
	for (int i = 0; i < net->n_nodes; i++)
		node[i] = i;
	n = partners(m, pattern, net->n_nodes, pair);
	sig = signature_of(net->n_nodes, pair, n, load[l].bytes, &err);
	for (int i = 0; i < 2; i++)
		run[i] = packets(net, sig, node, 1 + (uint64_t)i);
	all = model(net, "PA", sig->phase->comm, node);
	minimal = model(net, cpl_routing_minimal(net)->name, sig->phase->comm,
	                node);
	crossing = between_groups(net, minimal);
	b = compare(net->n_links, all, run[0]);
	before = compare(net->n_links, minimal, run[0]);
	seeds = compare(net->n_links, run[0], run[1]);
	printf("| %s | %s | %s | %.3f | %.3f | %.2f | %.2f | %.3f, %.3f | "
	       "%.3f |\n",
	       machine[m].name, pattern_name[pattern], load[l].name, b.r,
	       before.r, b.total, b.largest,
	       between_groups(net, all) / crossing - 1,
	       between_groups(net, run[0]) / crossing - 1, seeds.r);
	fflush(stdout);
	free(run[0]);
	free(run[1]);
	free(all);
	free(minimal);
	free(node);
	free(pair);
	cpl_signature_free(sig);
	cpl_network_free(net);
}

int main(int argc, char **argv)
{
	int only = argc > 1 ? atoi(argv[1]) : -1;
	int pattern = argc > 2 ? atoi(argv[2]) : -1;

	printf("| network | pattern | load | r | minimal | total | largest | "
	       "detoured: model, packets | seeds |\n"
	       "|---|---|---|---|---|---|---|---|---|\n");
	for (int m = 0; m < MACHINES; m++)
		for (int p = 0; p < PATTERNS; p++)
			for (int l = 0; l < LOADS; l++)
				if ((only < 0 || only == m) &&
				    (pattern < 0 || pattern == p))
					row(m, p, l);
	return 0;
}
