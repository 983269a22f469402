/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is linked into the command and tests only. Scotch reports through
 * functions that a program may replace: those here keep the text and print
 * nothing, and Scotch then ends no process. Random numbers and threads are of a
 * context of our own, so that the answer depends on the seed alone.
 */
#include "commplace-config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_SCOTCH_SCOTCH_H
#include <scotch/scotch.h>
#else
#include <scotch.h>
#endif

#include "mapping/mappers.h"
#include "mapping/mapping_internal.h"

/* Scotch keeps the sum of edge weights times distances in an int. */
#define COST_SUM 2e9
/* Scotch tabulates all distances of so many hosts, and coarsens above. */
#define TABLE_MAX 4096
/* A link between routers costs more than one to a host, so that hops decide and
 * hosts of one router are nearer than others. */
#define LINK_COST 10
#define HOST_COST 1

static _Thread_local char complaint[200];

void SCOTCH_errorPrint(const char *const format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(complaint, sizeof(complaint), format, args);
	va_end(args);
}

void SCOTCH_errorPrintW(const char *const format, ...)
{
}

void SCOTCH_errorProg(const char *const name)
{
}

struct csr {
	SCOTCH_Num n, n_edges;
	SCOTCH_Num *row, *to, *cost, *size;
};

struct scotch_job {
	const struct cpl_map_request *req;
	struct cpl_arena arena;
	int n;     /* hosts that have slots */
	int *host; /* [n] index into req->host of a terminal */
	struct csr ranks, machine;
	SCOTCH_Num *terminal; /* [n] vertices of the machine */
	SCOTCH_Num first_terminal;
	SCOTCH_Num *part; /* [ranks] */
	int *left;        /* [n_hosts] slots */
};

static int fail(struct cpl_error *err, const char *what)
{
	return cpl_fail(err, "Scotch %s: %s", what,
	                complaint[0] ? complaint : "no reason given");
}

static int take_csr(struct scotch_job *j, struct csr *g, int n, int64_t edges,
                    struct cpl_error *err)
{
	g->row = cpl_arena_take(&j->arena, n + 1, sizeof(*g->row));
	g->size = cpl_arena_take(&j->arena, n, sizeof(*g->size));
	g->to = cpl_arena_take(&j->arena, edges, sizeof(*g->to));
	g->cost = cpl_arena_take(&j->arena, edges, sizeof(*g->cost));
	return j->arena.failed ? cpl_fail_memory(err) : 0;
}

static int cost_between(const struct scotch_job *j, int a, int b)
{
	const struct cpl_map_request *req = j->req;
	int from = cpl_network_station(req->net, req->host[j->host[a]]);
	int to = cpl_network_station(req->net, req->host[j->host[b]]);

	double hops = cpl_station_hops(req->net, req->routing, from, to);

	return (int)(LINK_COST * hops + 0.5) +
	       2 * HOST_COST;
}

/* The largest sum of all weights: each pair stands in the graph twice, and no
 * two hosts are farther apart than twice the farthest of one. */
static double weights_sum(const struct scotch_job *j)
{
	int farthest = 1;

	for (int i = 1; i < j->n; i++) {
		int cost = cost_between(j, 0, i);

		if (cost > farthest)
			farthest = cost;
	}
	return COST_SUM / farthest;
}

/* Makes the graph of ranks, with bytes as whole weights of at least 1. */
static int rank_graph(struct scotch_job *j, struct cpl_error *err)
{
	const struct cpl_comm *graph = j->req->graph;
	struct csr *g = &j->ranks;
	double sum = 0, scale, most = weights_sum(j);

	if ((double)graph->n_entries > most)
		return cpl_fail(err,
		                "Scotch: %lld pairs of ranks are too many for "
		                "its whole numbers",
		                (long long)graph->n_entries / 2);
	if (take_csr(j, g, graph->ranks, graph->n_entries, err))
		return -1;
	for (int64_t e = 0; e < graph->n_entries; e++)
		sum += graph->bytes[e];
	scale = (most - (double)graph->n_entries) / (sum > 0 ? sum : 1);
	if (scale > 1)
		scale = 1;
	g->n = graph->ranks;
	g->n_edges = 0;
	for (int r = 0; r < graph->ranks; r++) {
		g->row[r] = g->n_edges;
		g->size[r] = 1;
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++) {
			double weight = graph->bytes[e] * scale;

			if (!(graph->bytes[e] > 0))
				continue;
			g->to[g->n_edges] = graph->to[e];
			g->cost[g->n_edges++] =
			        weight > 1 ? (SCOTCH_Num)weight : 1;
		}
	}
	g->row[g->n] = g->n_edges;
	return 0;
}

/* Joins routers, a vertex for each host behind its router, and hosts that are
 * side by side: Scotch bisects the hosts alone, which would otherwise have no
 * edges. */
static struct cpl_comm *join(struct scotch_job *j, struct cpl_error *err)
{
	const struct cpl_network *net = j->req->net;
	struct cpl_comm *hosts = cpl_map_host_graph(j->req, j->host, j->n, err);
	struct cpl_comm *graph = NULL;
	struct cpl_comm_entry *entry;
	int first = net->n_routers;
	int64_t used = 0;

	if (!hosts)
		return NULL;
	entry = cpl_arena_take(&j->arena,
	                       net->n_links + j->n + hosts->n_entries,
	                       sizeof(*entry));
	if (cpl_out_of_memory(!entry, err))
		goto out;
	for (int64_t l = 0; l < net->n_links; l++)
		entry[used++] = (struct cpl_comm_entry){net->link_from[l],
		                                        net->link_to[l], 1, 1};
	for (int i = 0; i < j->n; i++) {
		entry[used++] = (struct cpl_comm_entry){
		        first + i,
		        cpl_network_router(net, j->req->host[j->host[i]]), 1,
		        1};
		for (int64_t e = hosts->row[i]; e < hosts->row[i + 1]; e++)
			entry[used++] = (struct cpl_comm_entry){
			        first + i, first + hosts->to[e], 1, 1};
	}
	graph = cpl_comm_build_symmetric(first + j->n, entry, used, err);
out:
	cpl_comm_free(hosts);
	return graph;
}

static int machine_graph(struct scotch_job *j, struct cpl_error *err)
{
	int first = j->req->net->n_routers;
	struct cpl_comm *graph = join(j, err);
	struct csr *g = &j->machine;

	if (!graph ||
	    take_csr(j, g, graph->ranks, graph->n_entries, err)) {
		cpl_comm_free(graph);
		return -1;
	}
	g->n = graph->ranks;
	g->n_edges = (SCOTCH_Num)graph->n_entries;
	for (int v = 0; v < graph->ranks; v++) {
		g->row[v] = (SCOTCH_Num)graph->row[v];
		g->size[v] = v < first ? 1 : j->req->slots[j->host[v - first]];
		for (int64_t e = graph->row[v]; e < graph->row[v + 1]; e++) {
			int to = graph->to[e];

			g->to[e] = to;
			if (v < first && to < first)
				g->cost[e] = LINK_COST;
			else if (v < first || to < first)
				g->cost[e] = HOST_COST;
			else
				g->cost[e] =
				        cost_between(j, v - first, to - first);
		}
	}
	g->row[g->n] = g->n_edges;
	/* Scotch numbers terminals by vertex, or else by position. */
	j->first_terminal = j->n > TABLE_MAX ? 0 : first;
	for (int i = 0; i < j->n; i++)
		j->terminal[i] = first + i;
	cpl_comm_free(graph);
	return 0;
}

static int by_node(const void *a, const void *b, void *arg)
{
	const int *node = arg, x = node[*(const int *)a],
	          y = node[*(const int *)b];

	return (x > y) - (x < y);
}

/* Is this a whole torus or mesh of equal hosts, which Scotch knows as such? */
static bool is_whole_torus(const struct scotch_job *j)
{
	const struct cpl_network *net = j->req->net;

	if (!cpl_network_product(net) || j->n != net->n_nodes ||
	    !net->node_is_router)
		return false;
	for (int i = 1; i < j->n; i++)
		if (j->req->slots[j->host[i]] != j->req->slots[j->host[0]])
			return false;
	for (int d = 0; d < net->product.n_dims; d++)
		if (net->product.dim[d] > 2 &&
		    net->product.wrap[d] != net->product.wrap[0])
			return false;
	return true;
}

static int build_machine(struct scotch_job *j, SCOTCH_Context *context,
                         SCOTCH_Arch *arch, struct cpl_error *err)
{
	const struct cpl_product *torus = &j->req->net->product;
	SCOTCH_Num dim[CPL_NETWORK_MAX_DIMS];
	SCOTCH_Graph graph, bound;
	SCOTCH_Strat strat;
	struct csr *g = &j->machine;
	int rc;

	if (is_whole_torus(j)) {
		for (int d = 0; d < torus->n_dims; d++)
			dim[d] = torus->dim[d];
		qsort_r(j->host, (size_t)j->n, sizeof(*j->host), by_node,
		        (void *)j->req->host);
		rc = torus->wrap[0]
		             ? SCOTCH_archTorusX(arch, torus->n_dims, dim)
		             : SCOTCH_archMeshX(arch, torus->n_dims, dim);
		return rc ? fail(err, "takes no such torus") : 0;
	}
	if (machine_graph(j, err))
		return -1;
	SCOTCH_graphInit(&graph);
	SCOTCH_stratInit(&strat);
	SCOTCH_graphInit(&bound);
	rc = SCOTCH_graphBuild(&graph, 0, g->n, g->row, NULL, g->size, NULL,
	                       g->n_edges, g->to, g->cost) ||
	     SCOTCH_contextBindGraph(context, &graph, &bound);
	if (!rc)
		rc = j->n > TABLE_MAX ? SCOTCH_archBuild2(arch, &bound, j->n,
		                                          j->terminal)
		                      : SCOTCH_archBuild0(arch, &bound, j->n,
		                                          j->terminal, &strat);
	SCOTCH_stratExit(&strat);
	SCOTCH_graphExit(&bound);
	SCOTCH_graphExit(&graph);
	return rc ? fail(err, "makes no architecture of the network") : 0;
}

static int map_ranks(struct scotch_job *j, struct cpl_error *err)
{
	struct csr *g = &j->ranks;
	SCOTCH_Context context;
	SCOTCH_Graph graph, bound;
	SCOTCH_Strat strat;
	SCOTCH_Arch arch;
	int rc;

	complaint[0] = '\0';
	if (SCOTCH_contextInit(&context))
		return fail(err, "does not start");
	SCOTCH_graphInit(&graph);
	SCOTCH_graphInit(&bound);
	SCOTCH_stratInit(&strat);
	SCOTCH_archInit(&arch);
	SCOTCH_contextRandomSeed(&context, (SCOTCH_Num)(j->req->seed & 0xffff));
	rc = SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC,
	                                1) ||
	     SCOTCH_contextThreadSpawn(&context, 1, NULL) ||
	     SCOTCH_graphBuild(&graph, 0, g->n, g->row, NULL, g->size, NULL,
	                       g->n_edges, g->to, g->cost) ||
	     SCOTCH_contextBindGraph(&context, &graph, &bound);
	if (rc)
		rc = fail(err, "does not take the ranks");
	else
		rc = build_machine(j, &context, &arch, err);
	if (!rc && (SCOTCH_stratGraphMapBuild(&strat, SCOTCH_STRATQUALITY, j->n,
	                                      0.001) ||
	            SCOTCH_graphMap(&bound, &arch, &strat, j->part)))
		rc = fail(err, "does not map the ranks");
	SCOTCH_graphExit(&bound);
	SCOTCH_graphExit(&graph);
	SCOTCH_stratExit(&strat);
	SCOTCH_archExit(&arch);
	SCOTCH_contextExit(&context);
	return rc;
}

/* Moves ranks beyond a host's slots to the nearest free ones, highest first. */
static int keep_slots(struct scotch_job *j, int *rank_host,
                      struct cpl_error *err)
{
	const struct cpl_map_request *req = j->req;
	struct cpl_distance d;

	if (cpl_distance_init(&d, req->net, req->routing, req->host,
	                      req->n_hosts, err))
		return -1;
	memcpy(j->left, req->slots, (size_t)req->n_hosts * sizeof(*j->left));
	for (int r = 0; r < req->graph->ranks; r++)
		j->left[rank_host[r]]--;
	for (int r = req->graph->ranks - 1; r >= 0; r--) {
		const float *row;
		int best = -1;

		if (j->left[rank_host[r]] >= 0)
			continue;
		row = cpl_distance_row(&d, d.leaf[rank_host[r]]);
		for (int h = 0; h < req->n_hosts; h++)
			if (j->left[h] > 0 &&
			    (best < 0 || row[d.leaf[h]] < row[d.leaf[best]]))
				best = h;
		j->left[rank_host[r]]++;
		j->left[best]--;
		rank_host[r] = best;
	}
	cpl_distance_free(&d);
	return 0;
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	struct scotch_job j = {.req = req};
	int ranks = req->graph->ranks, rc = -1;

	j.host = cpl_arena_take(&j.arena, req->n_hosts, sizeof(*j.host));
	j.left = cpl_arena_take(&j.arena, req->n_hosts, sizeof(*j.left));
	j.terminal =
	        cpl_arena_take(&j.arena, req->n_hosts, sizeof(*j.terminal));
	j.part = cpl_arena_take(&j.arena, ranks, sizeof(*j.part));
	if (j.arena.failed)
		goto out;
	for (int h = 0; h < req->n_hosts; h++)
		if (req->slots[h])
			j.host[j.n++] = h;
	if (j.n == 1 || cpl_map_expired(req)) {
		rc = cpl_mapper_map(&cpl_mapper_linear, req, rank_host, err);
		goto out;
	}
	if (rank_graph(&j, err) || map_ranks(&j, err))
		goto out;
	for (int r = 0; r < ranks; r++) {
		SCOTCH_Num at = j.part[r] - j.first_terminal;

		if (at < 0 || at >= j.n) {
			cpl_fail(err, "Scotch left rank %d without a host", r);
			goto out;
		}
		rank_host[r] = j.host[at];
	}
	rc = keep_slots(&j, rank_host, err);
out:
	return cpl_arena_end(&j.arena, rc, err);
}

const struct cpl_mapper cpl_mapper_scotch = {
        .name = "scotch",
        .summary = "static mapping by Scotch",
        .map = map,
};

static const struct cpl_entry *const own[] = {&cpl_mapper_scotch.entry, NULL};

const struct cpl_registry cpl_mappers_and_scotch = {
        .entry = own,
        .base = &cpl_mappers,
};
