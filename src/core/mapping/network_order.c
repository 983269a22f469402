/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "graph/arena.h"
#include "mapping/mapping_internal.h"

/* A host and its position. */
struct host_position {
	uint64_t key; /* of a product, else 0 */
	int n, at[CPL_NETWORK_MAX_DIMS];
	int node, host;
};

/* The order goes back and forth: a coordinate runs backwards where those before
 * it add up to an odd number, so that the end of a row is beside the start of
 * the next. */
static int along(const void *a, const void *b)
{
	const struct host_position *x = a, *y = b;
	int before = 0;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	for (int d = 0; d < x->n; before += x->at[d++])
		if (x->at[d] != y->at[d])
			return (x->at[d] < y->at[d]) == before % 2 ? 1 : -1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->host > y->host) - (x->host < y->host);
}

static int by_position(const struct cpl_map_request *req, int *order,
                    struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	const struct cpl_product *product = cpl_network_product(net);
	struct host_position *position =
	        malloc(((size_t)req->n_hosts + 1) * sizeof(*position));

	if (!position)
		return cpl_fail_memory(err);
	for (int i = 0; i < req->n_hosts; i++) {
		int router = cpl_network_router(net, req->host[i]);

		position[i] =
		        (struct host_position){.node = req->host[i], .host = i};
		if (product)
			position[i].key = cpl_map_curve_key(
			        router, product->dim, product->n_dims);
		else
			position[i].n = cpl_network_coordinates(net, router,
			                                        position[i].at);
	}
	qsort(position, (size_t)req->n_hosts, sizeof(*position), along);
	for (int i = 0; i < req->n_hosts; i++)
		order[i] = position[i].host;
	free(position);
	return 0;
}

/* The unseen partner by the widest link, ties to the first; -1: none. */
static int next_of(const struct cpl_comm *graph, int v, const bool *seen)
{
	double widest = -1;
	int best = -1;

	for (int64_t e = graph->row[v]; e < graph->row[v + 1]; e++)
		if (!seen[graph->to[e]] && graph->bytes[e] > widest) {
			widest = graph->bytes[e];
			best = graph->to[e];
		}
	return best;
}

static int64_t degree(const struct cpl_comm *graph, int v)
{
	return graph->row[v + 1] - graph->row[v];
}

/* An end of the graph has fewest links; ties go to the lowest. */
static int start_of(const struct cpl_comm *graph)
{
	int best = 0;

	for (int v = 1; v < graph->ranks; v++)
		if (degree(graph, v) < degree(graph, best))
			best = v;
	return best;
}

/* Goes depth first along links; hosts that no link joins follow. */
static int by_links(const struct cpl_map_request *req, int *order,
                    struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int *all = cpl_arena_take(&arena, req->n_hosts, sizeof(*all));
	int *stack = cpl_arena_take(&arena, req->n_hosts, sizeof(*stack));
	bool *seen = cpl_arena_take(&arena, req->n_hosts, sizeof(*seen));
	struct cpl_comm *graph = NULL;
	int n = 0, first;

	for (int i = 0; i < req->n_hosts && !arena.failed; i++)
		all[i] = i;
	if (!arena.failed)
		graph = cpl_map_host_graph(req, all, req->n_hosts, err);
	if (!graph)
		return cpl_arena_end(&arena, -1, err);
	first = start_of(graph);
	for (int i = -1; i < req->n_hosts; i++) {
		int v = i < 0 ? first : i, depth = 0;

		if (seen[v])
			continue;
		seen[v] = true;
		order[n++] = stack[depth++] = v;
		while (depth) {
			v = next_of(graph, stack[depth - 1], seen);
			if (v < 0) {
				depth--;
				continue;
			}
			seen[v] = true;
			order[n++] = stack[depth++] = v;
		}
	}
	cpl_comm_free(graph);
	return cpl_arena_end(&arena, 0, err);
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	int *order = malloc(((size_t)req->n_hosts + 1) * sizeof(*order));
	int rank = 0, rc = -1;

	if (!order)
		return cpl_fail_memory(err);
	if (cpl_network_type_is_irregular(req->net->type)
	            ? by_links(req, order, err)
	            : by_position(req, order, err))
		goto out;
	for (int i = 0; i < req->n_hosts; i++)
		for (int k = 0; k < req->slots[order[i]]; k++)
			rank_host[rank++] = order[i];
	rc = 0;
out:
	free(order);
	return rc;
}

const struct cpl_mapper cpl_mapper_network_order = {
        .name = "network-order",
        .summary = "blocks along the network, for any traffic or none known",
        .flags = CPL_MAPPER_HOSTS,
        .map = map,
};
