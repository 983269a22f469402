/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binding on 128 switches x 16 nodes x 2 sockets x 4 cores (RR-8269, Figure 8):
 * CPU time and cost against Scotch, patterns of NAS kernels, and the plan of
 * one large node. Costs are sums over pairs of traffic * tree distance.
 *
 *   bench_binding [-p RANKS] dense | nas | plan
 *
 * dense: 64 .. RANKS (default 4096, at most 16384) ranks, every pair with a
 * random weight. Scotch (given the whole tree) and "Scotch, part" (given the
 * switches or nodes that just hold the ranks).
 */
#include "commplace-config.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "../unit/even_tree.h"
#include "binding/binding_internal.h"
#include "signature/signature.h"
#include "cpu_time.h"

static const int arity[] = {128, 16, 2, 4};
#define LEVELS 4
#define PER_NODE 8
#define PLANS 20

static void *checked(void *p)
{
	if (!p) {
		fputs("bench_binding: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

/* Every pair with 1 .. 1000 both ways; messages are not needed. */
static struct cpl_comm *dense(int n)
{
	struct cpl_comm *g = checked(calloc(1, sizeof(*g)));
	int64_t e = 0;

	g->ranks = n;
	g->n_entries = (int64_t)n * (n - 1);
	g->row = checked(calloc((size_t)n + 1, sizeof(*g->row)));
	g->to = checked(malloc((size_t)g->n_entries * sizeof(*g->to)));
	g->bytes = checked(malloc((size_t)g->n_entries * sizeof(*g->bytes)));
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			uint64_t a = (uint64_t)(i < j ? i : j);
			uint64_t b = (uint64_t)(i < j ? j : i);

			if (i == j)
				continue;
			g->to[e] = j;
			g->bytes[e++] =
			        1 + (double)cpl_random_below(7, a, b, 1000);
		}
		g->row[i + 1] = e;
	}
	return g;
}

/* The switches, or nodes of one switch, that just hold n ranks. */
static struct cpl_tree part(int n)
{
	int per_switch = arity[1] * PER_NODE;
	int own[LEVELS] = {1, (n + PER_NODE - 1) / PER_NODE, arity[2],
	                   arity[3]};

	if (n > per_switch) {
		own[0] = (n + per_switch - 1) / per_switch;
		own[1] = arity[1];
	}
	return even_tree(LEVELS, own);
}

struct outcome {
	double seconds, cost;
	int moved;
};

static struct outcome run(const struct cpl_binder *binder,
                          const struct cpl_tree *tree,
                          const struct cpl_comm *graph, const int *weight)
{
	struct cpl_bind_problem problem = {.tree = tree, .graph = graph};
	int *slot = checked(calloc((size_t)graph->ranks, sizeof(*slot)));
	struct cpl_error err = {""};
	struct outcome o = {0, NAN, 0};
	double begin = cpu_seconds();
	int rc = -1;

	if (binder)
		rc = binder->bind(&problem, slot, &err);
	else {
#ifdef HAVE_SCOTCH
		rc = cpl_bind_scotch(tree, graph, weight, slot, &o.moved, &err);
#else
		cpl_fail(&err, "built without Scotch");
#endif
	}
	o.seconds = cpu_seconds() - begin;
	if (rc)
		fprintf(stderr, "bench_binding: %s\n", err.text);
	else
		o.cost = cpl_tree_cost(tree, graph, slot);
	free(slot);
	return o;
}

static void bench_dense(int most)
{
	struct cpl_tree all = even_tree(LEVELS, arity);

	printf("CPU milliseconds, and cost relative to that of best\n\n");
	printf("%6s | %9s %9s %7s | %9s %7s %9s %7s %5s | %7s\n", "ranks",
	       "best", "treematch", "cost", "Scotch", "cost", "part", "cost",
	       "moved", "packed");
	for (int n = 64; n <= most; n *= 2) {
		struct cpl_comm *graph = dense(n);
		struct cpl_tree few = part(n);
		struct outcome best, tm, packed, scotch, on_part;

		best = run(&cpl_binder_best, &all, graph, NULL);
		tm = run(&cpl_binder_treematch, &all, graph, NULL);
		packed = run(&cpl_binder_packed, &all, graph, NULL);
		scotch = run(NULL, &all, graph, NULL);
		on_part = run(NULL, &few, graph, NULL);
		printf("%6d | %9.2f %9.2f %7.5f | %9.2f %7.5f %9.2f %7.5f "
		       "%5d | %7.5f\n",
		       n, 1e3 * best.seconds, 1e3 * tm.seconds,
		       tm.cost / best.cost, 1e3 * scotch.seconds,
		       scotch.cost / best.cost, 1e3 * on_part.seconds,
		       on_part.cost / best.cost, on_part.moved,
		       packed.cost / best.cost);
		fflush(stdout);
		cpl_tree_free(&few);
		cpl_comm_free(graph);
	}
	cpl_tree_free(&all);
}

struct list {
	struct cpl_comm_entry *entry;
	int64_t n, room;
};

static void add(struct list *l, int from, int to, double bytes, double count)
{
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 1024;
		l->entry = checked(
		        realloc(l->entry, (size_t)l->room * sizeof(*l->entry)));
	}
	l->entry[l->n++] =
	        (struct cpl_comm_entry){from, to, bytes * count, count};
}

/* CG: rows of a grid reduce by halves, with a transpose partner (cg.f). */
static struct cpl_comm *pattern_cg(int n)
{
	struct list l = {0};
	struct cpl_comm *comm;
	int rows = 1, columns, iterations = 75 * 26;
	double points = 150000;

	while (4 * rows * rows <= n)
		rows *= 2;
	if (rows * rows > n)
		rows /= 2;
	columns = n / rows;
	for (int r = 0; r < n; r++) {
		int row = r / columns, column = r % columns;
		int partner =
		        rows == columns
		                ? (r % rows) * rows + r / rows
		                : 2 * ((r / 2 % rows) * rows + r / 2 / rows) +
		                          r % 2;

		for (int bit = 1; bit < columns; bit *= 2) {
			int to = row * columns + (column ^ bit);

			add(&l, r, to, 8 * points / rows, iterations);
			add(&l, r, to, 8, 2 * iterations);
		}
		if (partner != r)
			add(&l, r, partner, 8 * points / columns, iterations);
	}
	comm = checked(cpl_comm_build(n, l.entry, l.n, NULL));
	free(l.entry);
	return comm;
}

/* FT: all-to-all of the array, and sums over a binomial tree (ft.f). */
static struct cpl_comm *pattern_ft(int n)
{
	struct list l = {0};
	struct cpl_comm *comm;
	double points = 512.0 * 512 * 512;

	for (int r = 0; r < n; r++) {
		for (int to = 0; to < n; to++)
			if (to != r)
				add(&l, r, to, 16 * points / n / n, 22);
		for (int bit = 1; bit < n; bit *= 2)
			if (r % (2 * bit) == bit)
				add(&l, r, r - bit, 16, 20);
	}
	comm = checked(cpl_comm_build(n, l.entry, l.n, NULL));
	free(l.entry);
	return comm;
}

static struct cpl_comm *pattern_lu(int n)
{
	char text[256];
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	struct cpl_comm *comm;

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-signature\",\"version\":1,\"name\":"
	         "\"lu\",\"ranks\":%d,\"phases\":[{\"name\":\"all\","
	         "\"weight\":1,\"pattern\":{\"type\":\"npb-lu\",\"class\":"
	         "\"C\",\"ranks\":%d}}]}",
	         n, n);
	sig = cpl_signature_parse(text, strlen(text), "lu", &err);
	comm = sig ? cpl_signature_total(sig, &err) : NULL;
	if (!comm) {
		fprintf(stderr, "bench_binding: %s\n", err.text);
		exit(1);
	}
	cpl_signature_free(sig);
	return comm;
}

static void by_messages(struct cpl_comm *graph)
{
	for (int64_t e = 0; e < graph->n_entries; e++)
		graph->bytes[e] = graph->messages[e];
}

/* In the order of the units of the machine: the sockets of a node in turn. */
static int unit_slot(int node, int unit)
{
	return node * PER_NODE + unit % 2 * 4 + unit / 2;
}

/* RR of the source, node after node; by_node: the nodes in turn. */
static double physical_cost(const struct cpl_tree *tree,
                            const struct cpl_comm *graph, bool by_node)
{
	int *slot = checked(calloc((size_t)graph->ranks, sizeof(*slot)));
	int nodes = graph->ranks / PER_NODE;
	double cost;

	for (int r = 0; r < graph->ranks; r++)
		slot[r] = by_node ? unit_slot(r % nodes, r / nodes)
		                  : unit_slot(r / PER_NODE, r % PER_NODE);
	cost = cpl_tree_cost(tree, graph, slot);
	free(slot);
	return cost;
}

enum nas_column {
	BEST,
	TREEMATCH,
	CLUSTER,
	PACKED,
	ROUND_ROBIN,
	BY_NODE,
	SCOTCH,
	SCOTCH_W,
	SCOTCH_PART,
	SCOTCH_W_PART,
	NAS_COLUMNS
};

static void nas_costs(const struct cpl_tree *all,
                      const struct cpl_comm *graph, double *cost)
{
	static const int heavy[LEVELS] = {500, 100, 50, 10};
	struct cpl_tree few = part(graph->ranks);

	cost[BEST] = run(&cpl_binder_best, all, graph, NULL).cost;
	cost[TREEMATCH] = run(&cpl_binder_treematch, all, graph, NULL).cost;
	cost[CLUSTER] = run(&cpl_binder_cluster, all, graph, NULL).cost;
	cost[PACKED] = run(&cpl_binder_packed, all, graph, NULL).cost;
	cost[ROUND_ROBIN] = physical_cost(all, graph, false);
	cost[BY_NODE] = physical_cost(all, graph, true);
	cost[SCOTCH] = run(NULL, all, graph, NULL).cost;
	cost[SCOTCH_W] = run(NULL, all, graph, heavy).cost;
	cost[SCOTCH_PART] = run(NULL, &few, graph, NULL).cost;
	cost[SCOTCH_W_PART] = run(NULL, &few, graph, heavy).cost;
	cpl_tree_free(&few);
}

static void print_nas_head(void)
{
	static const char *const head[2][NAS_COLUMNS] = {
	        {"best", "treematch", "cluster", "packed", "RR", "by node",
	         "Scotch", "Scotch", "Scotch", "Scotch"},
	        {"", "", "", "", "", "", "", "_w", "part", "_w part"}};

	printf("cost relative to that of best (1e9 units of cost)\n\n");
	for (int l = 0; l < 2; l++) {
		printf("%-3s %5s %-4s | %10s |", "", l ? "" : "ranks", "",
		       head[l][BEST]);
		for (int i = TREEMATCH; i < NAS_COLUMNS; i++)
			printf(" %*s%s", i == TREEMATCH ? 9 : 7, head[l][i],
			       i == CLUSTER ? " |" : "");
		putchar('\n');
	}
}

static void bench_nas(void)
{
	static const struct {
		const char *name;
		struct cpl_comm *(*make)(int n);
	} kernel[] = {
	        {"CG", pattern_cg}, {"FT", pattern_ft}, {"LU", pattern_lu}};
	struct cpl_tree all = even_tree(LEVELS, arity);
	double mean[3][NAS_COLUMNS] = {{0}};

	print_nas_head();
	for (int k = 0; k < 3; k++)
		for (int n = 64; n <= 256; n *= 2)
			for (int metric = 0; metric < 2; metric++) {
				struct cpl_comm *comm = kernel[k].make(n);
				struct cpl_comm *graph =
				        checked(cpl_comm_symmetric(comm, NULL));
				double cost[NAS_COLUMNS];

				if (metric)
					by_messages(graph);
				nas_costs(&all, graph, cost);
				printf("%-3s %5d %-4s | %10.4g |",
				       kernel[k].name, n,
				       metric ? "msg" : "size",
				       cost[BEST] / 1e9);
				for (int i = TREEMATCH; i < NAS_COLUMNS; i++) {
					mean[k][i] += cost[i] / cost[BEST] / 6;
					printf(" %*.4f%s",
					       i == TREEMATCH ? 9 : 7,
					       cost[i] / cost[BEST],
					       i == CLUSTER ? " |" : "");
				}
				putchar('\n');
				cpl_comm_free(graph);
				cpl_comm_free(comm);
			}
	printf("\nmean of the kernel's six rows\n\n");
	for (int k = 0; k < 3; k++) {
		printf("%-14s | %10s |", kernel[k].name, "");
		for (int i = TREEMATCH; i < NAS_COLUMNS; i++)
			printf(" %*.4f%s", i == TREEMATCH ? 9 : 7, mean[k][i],
			       i == CLUSTER ? " |" : "");
		putchar('\n');
	}
	cpl_tree_free(&all);
}

/* Plans as the task plugin makes them: the topology is there already. */
static void plan(const char *pattern, const char *name,
                 const struct cpl_binder *binder,
                 const struct cpl_bind_request *req)
{
	struct cpl_bind_result result;
	struct cpl_error err = {""};
	double begin = cpu_seconds(), cost = 0, packed = 0;

	for (int k = 0; k < PLANS; k++) {
		if (cpl_bind(binder, req, &result, &err)) {
			fprintf(stderr, "bench_binding: %s\n", err.text);
			exit(1);
		}
		cost = result.cost;
		packed = result.cost_default;
		cpl_bind_result_free(&result);
	}
	printf("%-6s %-13s %8.3f %12.5g %12.5g\n", pattern, name,
	       1e3 * (cpu_seconds() - begin) / PLANS, cost, packed);
}

static void bench_plan(void)
{
	static const char *const machine = "pack:2 [numa] l3:8 core:8 pu:2";
	struct {
		const char *name;
		struct cpl_comm *comm;
	} pattern[] = {{"CG", pattern_cg(128)},
	               {"FT", pattern_ft(128)},
	               {"LU", pattern_lu(128)},
	               {"dense", dense(128)}};
	hwloc_topology_t topology;
	struct cpl_error err = {""};

	if (cpl_topology_load(machine, &topology, &err)) {
		fprintf(stderr, "bench_binding: %s\n", err.text);
		exit(1);
	}
	printf("128 ranks on %s: CPU milliseconds of a plan (mean of %d)\n\n",
	       machine, PLANS);
	printf("%-6s %-13s %8s %12s %12s\n", "", "", "ms", "cost", "packed");
	for (int i = 0; i < 4; i++) {
		struct cpl_bind_request req = {.topology = topology,
		                               .comm = pattern[i].comm,
		                               .cores_per_rank = 1};

		if (!req.comm->messages)
			pattern[i].comm->messages = checked(calloc(
			        (size_t)req.comm->n_entries, sizeof(double)));
		for (int b = 0; cpl_binder_at(b); b++)
			plan(pattern[i].name, cpl_binder_at(b)->name,
			     cpl_binder_at(b), &req);
#ifdef HAVE_SCOTCH
		plan(pattern[i].name, "scotch", &cpl_binder_scotch, &req);
#endif
		req.work = (int64_t)req.comm->ranks * CPL_BIND_LAUNCH_WORK;
		plan(pattern[i].name, "best --launch", &cpl_binder_best, &req);
		cpl_comm_free(pattern[i].comm);
	}
	hwloc_topology_destroy(topology);
}

int main(int argc, char **argv)
{
	int c, most = 4096;

	while ((c = getopt(argc, argv, "p:")) != -1)
		if (c == 'p')
			most = atoi(optarg);
	if (optind < argc && !strcmp(argv[optind], "dense") && most >= 64 &&
	    most <= 16384)
		bench_dense(most);
	else if (optind < argc && !strcmp(argv[optind], "nas"))
		bench_nas();
	else if (optind < argc && !strcmp(argv[optind], "plan"))
		bench_plan();
	else
		return fputs("bench_binding [-p RANKS] dense | nas | plan\n",
		             stderr),
		       2;
	return 0;
}
