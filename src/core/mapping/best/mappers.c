/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "mapping/best/chain.h"
#include "mapping/mappers.h"

/* The nanoseconds of an evaluation for each edge, and for each edge or link of
 * the network where all are read. */
#define EVALUATION_NS 10.0
#define READ_NS 50.0
/* Gathering takes this for each rank and edge at each of log2(hosts) levels. */
#define GATHER_RANK_NS 2800.0
#define GATHER_EDGE_NS 220.0
/* Mappers may take this share of the time of all work, or of a known time. */
#define SHARE 0.1
#define SHARE_OF_SECONDS 0.08
/* The time that is assumed where neither is known. */
#define SECONDS 2.0
#define TOPOAWARE_HOSTS 1024

static const struct cpl_mapper corner = {
        .name = "greedyallc",
        .map = cpl_map_greedyallc_corner,
};

/* The uses of a mapper. */
enum mapper_use {
	EVERYWHERE,
	NOT_TORUS,
	FEW_HOSTS,
};

/* Its costs are measured: edge + pair * hosts nanoseconds for each edge. */
static const struct {
	const struct cpl_mapper *mapper;
	double edge, pair;
	bool by_rank; /* false: it gathers ranks into a group per host */
	enum mapper_use use;
} table[] = {
        {&cpl_mapper_greedy, 100, 0, false, EVERYWHERE},
        {&cpl_mapper_rcm, 150, 0, false, EVERYWHERE},
        {&cpl_mapper_fhgreedy, 500, 0.6, false, EVERYWHERE},
        {&corner, 200, 1.5, true, EVERYWHERE},
        {&cpl_mapper_treematch, 1500, 0, false, NOT_TORUS},
        {&cpl_mapper_tile, 1600, 0, true, EVERYWHERE},
        {&cpl_mapper_sfc, 1300, 0, false, EVERYWHERE},
        {&cpl_mapper_topoaware_1, 500, 4, false, FEW_HOSTS},
        {&cpl_mapper_pacmap, 1000, 6, false, EVERYWHERE},
        {&cpl_mapper_bipartition, 14000, 0, false, EVERYWHERE},
        {&cpl_mapper_recursive, 14000, 0, true, EVERYWHERE},
        {&cpl_mapper_ptram, 1000, 60, true, EVERYWHERE},
};

#define N_MAPPERS (sizeof(table) / sizeof(*table))

int cpl_best_start_mapper(struct cpl_best_chain *chain)
{
	const struct cpl_best_mapper *m = chain->mapper;

	/* Where one mapper fails, others may succeed. */
	if (m->nodes) {
		if (!cpl_mapper_map(m->mapper, &m->nodes->req, chain->layout,
		                    &chain->err))
			cpl_best_move_nodes(chain, m->groups);
	} else if (!cpl_mapper_map(m->mapper, chain->best->req, chain->trial,
	                           &chain->err)) {
		cpl_best_consider(chain);
	}
	return 0;
}

static CPL_SORT_BY(by_cost, struct cpl_best_mapper, CPL_UP(cost),
                   CPL_UP(number))

double cpl_best_gather_cost(const struct cpl_map_request *req)
{
	double levels = 0;

	for (int n = 1; n < req->n_hosts; n *= 2)
		levels++;
	return levels * (GATHER_RANK_NS * (double)req->graph->ranks +
	                 GATHER_EDGE_NS * (double)req->graph->n_entries);
}

/* The nanoseconds for all mappers. */
static double budget(const struct cpl_map_request *req, double per_evaluation)
{
	double ns = SECONDS * 1e9;

	if (req->work < INT64_MAX)
		ns = SHARE * (double)req->work * per_evaluation;
	if (req->seconds > 0 && ns > SHARE_OF_SECONDS * req->seconds * 1e9)
		ns = SHARE_OF_SECONDS * req->seconds * 1e9;
	return ns;
}

/* Chooses the cheapest that fit, sorted by cost, then in the table's order. */
static int choose(const struct cpl_best *b, const struct cpl_best_nodes *nodes,
                  double ns, struct cpl_best_mapper *out)
{
	const struct cpl_map_request *req = b->req;
	double hosts = (double)req->n_hosts, edges;
	double links = (double)req->net->n_links;
	int n = 0, used = 0;

	for (size_t i = 0; i < N_MAPPERS; i++) {
		bool grouped = !table[i].by_rank && nodes;
		struct cpl_best_mapper *m = &out[n];

		if ((table[i].use == NOT_TORUS &&
		     cpl_network_product(req->net)) ||
		    (table[i].use == FEW_HOSTS &&
		     req->n_hosts > TOPOAWARE_HOSTS))
			continue;
		*m = (struct cpl_best_mapper){.mapper = table[i].mapper,
		                              .number = (int)i};
		if (grouped) {
			m->nodes = nodes;
			m->groups = b->groups;
		}
		edges = (double)(grouped ? nodes->graph->n_entries
		                         : req->graph->n_entries);
		m->cost = edges * (table[i].edge + table[i].pair * hosts) +
		          READ_NS * ((double)req->graph->n_entries + links);
		if (!b->single && !grouped && table[i].mapper != &corner)
			m->cost += cpl_best_gather_cost(req);
		n++;
	}
	qsort(out, (size_t)n, sizeof(*out), by_cost);
	while (used < n && out[used].cost <= ns)
		ns -= out[used++].cost;
	return used;
}

int cpl_best_choose_mappers(const struct cpl_best *b,
                            struct cpl_best_mappers *out, struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;
	double per_evaluation =
	        EVALUATION_NS *
	        (4 + (double)req->graph->n_entries / req->graph->ranks);
	const struct cpl_best_nodes *nodes = NULL;
	double ns = budget(req, per_evaluation);

	*out = (struct cpl_best_mappers){0};
	if (ns < READ_NS * (double)req->graph->n_entries)
		return 0;
	out->mapper = malloc(N_MAPPERS * sizeof(*out->mapper));
	if (!out->mapper)
		return cpl_fail_memory(err);
	if (b->grouped) {
		if (cpl_best_nodes_init(&out->nodes, req, b->groups, err))
			return -1;
		nodes = &out->nodes;
	}
	out->n = choose(b, nodes, ns, out->mapper);
	return 0;
}

void cpl_best_mappers_free(struct cpl_best_mappers *mappers)
{
	cpl_best_nodes_free(&mappers->nodes);
	free(mappers->mapper);
}
