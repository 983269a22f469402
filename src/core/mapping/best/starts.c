/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "graph/contract.h"
#include "mapping/best/chain.h"

/* With more hosts greedyallc takes too long. */
#define GREEDY_HOSTS 8192
/* Bisection ends at this share of a known time where it is only one start of
 * several; where ranks share hosts, its groups are needed, and trees are its own. */
#define BISECTION 0.5

struct start_box {
	const struct cpl_product *torus;
	const int *router; /* [hosts] */
};

static int coordinate(const struct start_box *box, int host, int d)
{
	int at = box->router[host];

	for (int k = 0; k < d; k++)
		at /= box->torus->dim[k];
	return at % box->torus->dim[d];
}

/* Orders hosts by halving them along their longest extent, at the points where
 * cpl_graph_partition halves its parts. */
static void order_hosts(const struct start_box *box, int *host, int n,
                        int *scratch)
{
	int axis = 0, extent = -1, used = 0, half = n / 2;

	if (n < 2)
		return;
	for (int d = 0; d < box->torus->n_dims; d++) {
		int low = box->torus->dim[d], high = 0;

		for (int i = 0; i < n; i++) {
			int x = coordinate(box, host[i], d);

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		if (high - low > extent) {
			extent = high - low;
			axis = d;
		}
	}
	for (int x = 0; x < box->torus->dim[axis] && used < n; x++)
		for (int i = 0; i < n; i++)
			if (coordinate(box, host[i], axis) == x)
				scratch[used++] = host[i];
	memcpy(host, scratch, (size_t)n * sizeof(*host));
	order_hosts(box, host, half, scratch);
	order_hosts(box, host + half, n - half, scratch);
}

struct limit {
	const struct cpl_map_request *req;
	double until; /* 0: none */
};

static bool is_past(void *arg)
{
	const struct limit *limit = arg;

	return cpl_map_expired(limit->req) ||
	       (limit->until > 0 && cpl_clock() > limit->until);
}

/* Bisects ranks and machine alike. Parts that cut less than the blocks of
 * ranks, which are the first groups, become the groups. */
int cpl_best_start_bisection(struct cpl_best_chain *chain)
{
	const struct cpl_map_request *req = chain->best->req;
	const struct cpl_comm *graph = req->graph;
	int hosts = req->n_hosts, rc = -1;
	int *part = chain->trial;
	struct cpl_arena arena = {0};
	int *order = cpl_arena_take(&arena, hosts, sizeof(*order));
	int *scratch = cpl_arena_take(&arena, hosts, sizeof(*scratch));
	int *slots = cpl_arena_take(&arena, hosts, sizeof(*slots));
	int *router = cpl_arena_take(&arena, hosts, sizeof(*router));
	struct start_box box = {&req->net->product, router};
	struct limit limit = {.req = req};

	if (arena.failed)
		goto out;
	for (int h = 0; h < hosts; h++) {
		order[h] = h;
		router[h] = cpl_network_router(req->net, req->host[h]);
	}
	if (cpl_network_product(req->net))
		order_hosts(&box, order, hosts, scratch);
	for (int i = 0; i < hosts; i++)
		slots[i] = req->slots[order[i]];
	if (chain->best->single && !chain->best->tree && req->seconds > 0)
		limit.until = cpl_clock() + BISECTION * req->seconds;
	rc = cpl_graph_partition(graph, slots, hosts, req->seed,
	                         chain->best->bisections, is_past, &limit, part,
	                         &chain->err);
	if (rc)
		goto out;
	if (!chain->best->kind &&
	    cpl_graph_cut(graph, part) < cpl_graph_cut(graph, chain->groups))
		memcpy(chain->groups, part,
		       (size_t)graph->ranks * sizeof(*part));
	for (int r = 0; r < graph->ranks; r++)
		chain->trial[r] = order[part[r]];
	cpl_best_consider(chain);
out:
	return cpl_arena_end(&arena, rc, &chain->err);
}

int cpl_best_start_greedy(struct cpl_best_chain *chain)
{
	if (chain->best->req->n_hosts > GREEDY_HOSTS)
		return 0;
	if (cpl_map_greedyallc(chain->best->req, chain->trial, &chain->err))
		return -1;
	cpl_best_consider(chain);
	return 0;
}

int cpl_best_start_grid(struct cpl_best_chain *chain)
{
	const struct cpl_map_request *req = chain->best->req;
	struct cpl_grid grid;
	int rc = cpl_map_find_grid(req, req->graph, &grid, &chain->err);

	if (!rc)
		rc = cpl_map_find_cliques(req->graph, &grid, &chain->err);
	if (rc <= 0)
		return rc;
	rc = cpl_map_fold(req, &grid, chain->trial, &chain->err);
	if (rc > 0)
		cpl_best_consider(chain);
	else if (!rc && !(rc = cpl_map_nest(req, &grid, chain->trial,
	                                    &chain->err)))
		cpl_best_consider(chain);
	free(grid.cell);
	return rc < 0 ? -1 : 0;
}

int cpl_best_start_pack(struct cpl_best_chain *chain)
{
	int rc = chain->best->single
	                 ? 0
	                 : cpl_map_pack(chain->best->req, chain->trial,
	                                &chain->err);

	if (rc > 0)
		cpl_best_consider(chain);
	return rc < 0 ? -1 : 0;
}

int cpl_best_nodes_init(struct cpl_best_nodes *nodes,
                        const struct cpl_map_request *req, const int *rank_host,
                        struct cpl_error *err)
{
	*nodes = (struct cpl_best_nodes){.req = *req};
	nodes->ones = malloc((size_t)req->n_hosts * sizeof(*nodes->ones));
	if (!nodes->ones)
		return cpl_fail_memory(err);
	for (int h = 0; h < req->n_hosts; h++)
		nodes->ones[h] = 1;
	nodes->comm =
	        cpl_comm_contract(req->comm, rank_host, req->n_hosts, 0, err);
	if (nodes->comm)
		nodes->graph = cpl_comm_symmetric(nodes->comm, err);
	nodes->req.comm = nodes->comm;
	nodes->req.graph = nodes->graph;
	nodes->req.slots = nodes->ones;
	return nodes->graph ? 0 : -1;
}

void cpl_best_nodes_free(struct cpl_best_nodes *nodes)
{
	cpl_comm_free(nodes->comm);
	cpl_comm_free(nodes->graph);
	free(nodes->ones);
}

void cpl_best_move_nodes(struct cpl_best_chain *chain, const int *from)
{
	for (int r = 0; r < chain->best->req->comm->ranks; r++)
		chain->trial[r] = chain->layout[from[r]];
	cpl_best_consider(chain);
}

int cpl_best_start_nodes(struct cpl_best_chain *chain)
{
	const struct cpl_map_request *req = chain->best->req;
	struct cpl_best_nodes nodes;
	int rc;

	if (chain->best->kind || chain->best->single)
		return 0;
	rc = cpl_best_nodes_init(&nodes, req, chain->low.rank_host,
	                         &chain->err);
	if (!rc)
		rc = cpl_map_greedyallc(&nodes.req, chain->layout, &chain->err);
	if (!rc)
		cpl_best_move_nodes(chain, chain->low.rank_host);
	cpl_best_nodes_free(&nodes);
	return rc;
}
