/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mapping/best_internal.h"

/* Edges looked at without a work limit; some seconds. */
#define EDGES 150000000
/* Rounds of annealing, each with twice the work of the one before, so that a
 * deadline that comes early finds the short ones done. */
#define ROUNDS 4
/* Share of the work that goes to the links. */
#define LINKS 0.03
/* Temperatures at the start: of nodes as a whole, and of ranks. */
#define HEAT 2.0
#define HEAT_RANKS 0.3
#define SAME 1e-9

struct best {
	const struct cpl_map_request *req;
	struct cpl_traffic_work *evaluation;
	struct cpl_load load;
	int *rank_node;
	int *trial;  /* [ranks] */
	int *low;    /* [ranks] least hop-bytes so far */
	int *answer; /* [ranks] best by the objective, the caller's */
	double low_cost;
	struct cpl_metrics metrics; /* of the answer */
	double cost;
	bool any;
	int64_t work;
	/* Nodes with ranks, as ranks of a job of their own with one rank on
	 * each node; NULL when they hold different numbers of ranks. */
	int *node_host;               /* [nodes] index into req->host */
	int *host_node;               /* [hosts] the other way round */
	int *node_id, *ones, *layout; /* [nodes] */
	int n_nodes;
};

static bool expired(const struct best *b)
{
	return b->req->expired && b->req->expired(b->req->expired_arg);
}

/* Judge b->trial. */
static void consider(struct best *b)
{
	const struct cpl_map_request *req = b->req;
	size_t size = (size_t)req->comm->ranks * sizeof(int);
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;

	for (int r = 0; r < req->comm->ranks; r++)
		b->rank_node[r] = req->host[b->trial[r]];
	cpl_load_clear(&b->load, req->net);
	cpl_traffic_add(req->net, req->routing, req->comm, b->rank_node,
	                b->evaluation, &b->load, &sums);
	cpl_traffic_metrics(req->net, &b->load, req->background, &metrics);
	if (!b->any || sums.hop_bytes < b->low_cost * (1 - SAME)) {
		b->low_cost = sums.hop_bytes;
		memcpy(b->low, b->trial, size);
	}
	if (!b->any ||
	    cpl_objective_better(req->objective, &metrics, sums.hop_bytes,
	                         &b->metrics, b->cost)) {
		b->metrics = metrics;
		b->cost = sums.hop_bytes;
		memcpy(b->answer, b->trial, size);
	}
	b->any = true;
}

/* Every message goes over one link: nothing is nearer. */
static bool perfect(const struct best *b)
{
	const struct cpl_comm *comm = b->req->comm;
	double sum = 0;

	if (b->req->net->nodes_per_router > 1)
		return b->low_cost <= 0;
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			if (b->low[r] != b->low[comm->to[e]])
				sum += comm->bytes[e];
	for (int h = 0; h < b->req->n_hosts; h++)
		if (b->req->slots[h] > 1)
			return b->low_cost <= 0;
	return b->low_cost <= sum * (1 + SAME);
}

struct box {
	const struct cpl_torus *torus;
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
 * cpl_map_partition halves its parts. */
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

/* Bisect ranks and machine alike. */
static int start_bisection(struct best *b, uint64_t seed, struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;
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
	if (req->net->type == CPL_NETWORK_TORUS) {
		struct box box = {&req->net->torus, router};

		order_hosts(&box, order, req->n_hosts, scratch);
	}
	for (int i = 0; i < req->n_hosts; i++)
		slots[i] = req->slots[order[i]];
	rc = cpl_map_partition(req->graph, slots, req->n_hosts, seed,
	                       req->expired, req->expired_arg, b->trial, err);
	for (int r = 0; !rc && r < req->graph->ranks; r++)
		b->trial[r] = order[b->trial[r]];
	if (!rc)
		consider(b);
out:
	free(order);
	free(scratch);
	free(slots);
	free(router);
	return rc;
}

/* Traffic between the nodes of a layout as a job of its own: node i of it is
 * what the layout has on host node_host[i]. */
static int node_request(struct best *b, const int *rank_host,
                        struct cpl_map_request *out, struct cpl_comm **comm,
                        struct cpl_comm **graph, struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;
	const struct cpl_comm *c = req->comm;
	struct cpl_comm_entry *entry =
	        malloc(((size_t)c->n_entries + 1) * sizeof(*entry));
	int64_t n = 0;

	*comm = *graph = NULL;
	if (!entry)
		return cpl_fail_memory(err);
	for (int r = 0; r < c->ranks; r++)
		for (int64_t e = c->row[r]; e < c->row[r + 1]; e++) {
			int from = b->host_node[rank_host[r]];
			int to = b->host_node[rank_host[c->to[e]]];

			if (from != to)
				entry[n++] = (struct cpl_comm_entry){
				        from, to, c->bytes[e], c->messages[e]};
		}
	*comm = cpl_comm_build(b->n_nodes, entry, n, err);
	free(entry);
	if (*comm)
		*graph = cpl_comm_symmetric(*comm, err);
	*out = *req;
	out->comm = *comm;
	out->graph = *graph;
	out->n_hosts = b->n_nodes;
	out->host = b->node_id;
	out->slots = b->ones;
	return *graph ? 0 : -1;
}

/* Place the nodes of `from` anew as b->layout says, into b->trial. */
static void move_nodes(struct best *b, const int *from)
{
	for (int r = 0; r < b->req->comm->ranks; r++)
		b->trial[r] = b->node_host[b->layout[b->host_node[from[r]]]];
	consider(b);
}

static int start_nodes(struct best *b, struct cpl_error *err)
{
	struct cpl_map_request req;
	struct cpl_comm *comm, *graph;
	int rc = node_request(b, b->low, &req, &comm, &graph, err);

	if (!rc)
		rc = cpl_mapper_greedyallc.map(&req, b->layout, err);
	if (!rc)
		move_nodes(b, b->low);
	cpl_comm_free(comm);
	cpl_comm_free(graph);
	return rc;
}

static int start_grid(struct best *b, struct cpl_error *err)
{
	struct cpl_grid grid;
	int rc = cpl_map_find_grid(b->req->graph, &grid, err);

	if (rc <= 0)
		return rc;
	rc = cpl_map_fold(b->req, &grid, b->trial, err);
	if (rc > 0)
		consider(b);
	free(grid.cell);
	return rc < 0 ? -1 : 0;
}

static int starts(struct best *b, struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;

	if (cpl_mapper_linear.map(req, b->trial, err))
		return -1;
	consider(b);
	if (expired(b))
		return 0;
	if (start_grid(b, err))
		return -1;
	if (perfect(b) || expired(b))
		return 0;
	if (cpl_mapper_greedyallc.map(req, b->trial, err))
		return -1;
	consider(b);
	if (expired(b))
		return 0;
	if (start_bisection(b, req->seed, err))
		return -1;
	if (b->node_host && !expired(b))
		return start_nodes(b, err);
	return 0;
}

static int anneal_nodes(struct best *b, int64_t size, uint64_t seed,
                        struct cpl_error *err)
{
	struct cpl_map_request req;
	struct cpl_comm *comm, *graph;
	int rc = node_request(b, b->low, &req, &comm, &graph, err);

	for (int i = 0; i < b->n_nodes; i++)
		b->layout[i] = i;
	if (!rc)
		rc = cpl_map_anneal(&req, HEAT, size, &b->work, seed, b->layout,
		                    err);
	if (!rc)
		move_nodes(b, b->low);
	cpl_comm_free(comm);
	cpl_comm_free(graph);
	return rc;
}

static int round_of(struct best *b, int64_t size, uint64_t seed,
                    struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;
	size_t bytes = (size_t)req->comm->ranks * sizeof(int);
	int64_t links = (int64_t)(LINKS * (double)size), rest = size - links;
	bool single = b->n_nodes == req->comm->ranks;

	if (b->node_host &&
	    anneal_nodes(b, single ? rest : rest / 2, seed, err))
		return -1;
	if (!single || !b->node_host) {
		memcpy(b->trial, b->low, bytes);
		if (cpl_map_anneal(req, HEAT_RANKS,
		                   b->node_host ? rest / 2 : rest, &b->work,
		                   seed + 1, b->trial, err))
			return -1;
		consider(b);
	}
	memcpy(b->trial, b->low, bytes);
	if (cpl_map_refine_links(req, links, &b->work, seed + 2, b->trial, err))
		return -1;
	consider(b);
	return 0;
}

/* One rank more or less on a node keeps nodes from being swapped whole. */
static int list_nodes(struct best *b, struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;
	size_t hosts = (size_t)req->n_hosts + 1;
	int slots = 0;

	for (int h = 0; h < req->n_hosts; h++) {
		if (!req->slots[h])
			continue;
		if (slots && req->slots[h] != slots)
			return 0;
		slots = req->slots[h];
	}
	b->node_host = malloc(hosts * sizeof(int));
	b->host_node = malloc(hosts * sizeof(int));
	b->node_id = malloc(hosts * sizeof(int));
	b->ones = malloc(hosts * sizeof(int));
	b->layout = malloc(hosts * sizeof(int));
	if (!b->node_host || !b->host_node || !b->node_id || !b->ones ||
	    !b->layout)
		return cpl_fail_memory(err);
	for (int h = 0; h < req->n_hosts; h++) {
		if (!req->slots[h])
			continue;
		b->host_node[h] = b->n_nodes;
		b->ones[b->n_nodes] = 1;
		b->node_id[b->n_nodes] = req->host[h];
		b->node_host[b->n_nodes++] = h;
	}
	return 0;
}

static int search(struct best *b, struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;
	int64_t work = b->work;

	if (starts(b, err))
		return -1;
	if (req->n_hosts > CPL_SWAPS_MAX_HOSTS)
		return 0;
	for (int i = 0; i < ROUNDS && b->work > 0; i++) {
		if (expired(b) || perfect(b))
			return 0;
		if (round_of(b, (work << i) / ((1 << ROUNDS) - 1),
		             req->seed + (uint64_t)i * 10, err))
			return -1;
	}
	return 0;
}

static int64_t default_work(const struct cpl_comm *graph)
{
	/* Four more: a swap costs something even where nobody talks. */
	return (int64_t)(EDGES / (4 + (double)graph->n_entries / graph->ranks));
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	size_t ranks = (size_t)req->comm->ranks + 1;
	struct best b = {
	        .req = req,
	        .answer = rank_host,
	        .work = req->work > 0 ? req->work : default_work(req->graph),
	        .rank_node = malloc(ranks * sizeof(int)),
	        .trial = malloc(ranks * sizeof(int)),
	        .low = malloc(ranks * sizeof(int)),
	};
	int rc = -1;

	if (!b.rank_node || !b.trial || !b.low) {
		cpl_fail_memory(err);
		goto out;
	}
	b.evaluation = cpl_traffic_work_new(req->net, req->comm, err);
	if (!b.evaluation || cpl_load_init(&b.load, req->net, err) ||
	    list_nodes(&b, err))
		goto out;
	rc = search(&b, err);
out:
	cpl_traffic_work_free(b.evaluation);
	cpl_load_free(&b.load);
	free(b.rank_node);
	free(b.trial);
	free(b.low);
	free(b.node_host);
	free(b.host_node);
	free(b.node_id);
	free(b.ones);
	free(b.layout);
	return rc;
}

const struct cpl_mapper cpl_mapper_best = {
        .name = "best",
        .summary = "several starts, annealing, then swaps on real link loads",
        .map = map,
};
