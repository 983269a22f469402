/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mapping/mappers.h"
#include "mapping/best/chain.h"

/* More hosts than this take greedyallc too long. */
#define GREEDY_HOSTS 8192

struct box {
	const struct cpl_product *torus;
	const int *router; /* [hosts] */
};

static int coordinate(const struct box *box, int host, int d)
{
	int at = box->router[host];

	for (int k = 0; k < d; k++)
		at /= box->torus->dim[k];
	return at % box->torus->dim[d];
}

/* Order hosts by halving them along their longest extent, where
 * cpl_graph_partition halves its parts. */
static void order_hosts(const struct box *box, int *host, int n, int *scratch)
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

/* Traffic between hosts. */
static double cut(const struct cpl_comm *graph, const int *host)
{
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (host[r] != host[graph->to[e]])
				sum += graph->bytes[e];
	return sum;
}

/* Parts that cut less than the blocks of ranks that groups are at first. */
static void take_groups(struct cpl_best_chain *chain, const int *part)
{
	const struct cpl_comm *graph = chain->best->req->graph;

	if (cut(graph, part) < cut(graph, chain->groups))
		memcpy(chain->groups, part,
		       (size_t)graph->ranks * sizeof(*part));
}

/* Bisect ranks and machine alike. */
int cpl_best_start_bisection(struct cpl_best_chain *chain,
                             struct cpl_error *err)
{
	const struct cpl_map_request *req = chain->best->req;
	size_t hosts = (size_t)req->n_hosts;
	int *order = malloc(hosts * sizeof(*order));
	int *scratch = malloc(hosts * sizeof(*scratch));
	int *slots = malloc(hosts * sizeof(*slots));
	int *router = malloc(hosts * sizeof(*router));
	int rc = -1;

	if (!order || !scratch || !slots || !router) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int h = 0; h < req->n_hosts; h++) {
		order[h] = h;
		router[h] = cpl_network_router(req->net, req->host[h]);
	}
	if (cpl_network_product(req->net)) {
		struct box box = {&req->net->product, router};

		order_hosts(&box, order, req->n_hosts, scratch);
	}
	for (int i = 0; i < req->n_hosts; i++)
		slots[i] = req->slots[order[i]];
	rc = cpl_graph_partition(req->graph, slots, req->n_hosts, req->seed,
	                         req->expired, req->expired_arg, chain->trial,
	                         err);
	if (!rc && !chain->best->kind)
		take_groups(chain, chain->trial);
	for (int r = 0; !rc && r < req->graph->ranks; r++)
		chain->trial[r] = order[chain->trial[r]];
	if (!rc)
		cpl_best_consider(chain);
out:
	free(order);
	free(scratch);
	free(slots);
	free(router);
	return rc;
}

int cpl_best_start_greedy(struct cpl_best_chain *chain, struct cpl_error *err)
{
	if (chain->best->req->n_hosts > GREEDY_HOSTS)
		return 0;
	if (cpl_mapper_map(&cpl_mapper_greedyallc, chain->best->req,
	                   chain->trial, err))
		return -1;
	cpl_best_consider(chain);
	return 0;
}

int cpl_best_start_grid(struct cpl_best_chain *chain, struct cpl_error *err)
{
	const struct cpl_map_request *req = chain->best->req;
	struct cpl_grid grid;
	int rc = cpl_map_find_grid(req->graph, &grid, err);

	if (rc <= 0)
		return rc;
	rc = cpl_map_fold(req, &grid, chain->trial, err);
	if (rc > 0)
		cpl_best_consider(chain);
	free(grid.cell);
	return rc < 0 ? -1 : 0;
}

int cpl_best_start_nodes(struct cpl_best_chain *chain, struct cpl_error *err)
{
	const struct cpl_map_request *req = chain->best->req;
	struct cpl_best_nodes nodes;
	int rc;

	if (chain->best->kind || chain->best->single)
		return 0;
	rc = cpl_best_nodes_init(&nodes, req, chain->low.rank_host, err);
	if (!rc)
		rc = cpl_mapper_map(&cpl_mapper_greedyallc, &nodes.req,
		                    chain->layout, err);
	if (!rc)
		cpl_best_move_nodes(chain, chain->low.rank_host);
	cpl_best_nodes_free(&nodes);
	return rc;
}
