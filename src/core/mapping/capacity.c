/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "graph/contract.h"
#include "mapping/mapping_internal.h"

#define PASSES 4
/* Edges looked at by moves and swaps between parts, per edge of the graph. */
#define WORK 200
#define GAIN 1e-9

struct sized {
	int weight, item;
};

static int heaviest_first(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* Ranks in that order, each on the first host with room. False: no room. */
static bool first_fit(const struct cpl_map_request *req,
                      const struct sized *order, int *room, int *rank_host)
{
	int first = 0;

	memcpy(room, req->slots, (size_t)req->n_hosts * sizeof(*room));
	for (int i = 0; i < req->comm->ranks; i++) {
		int rank = order ? order[i].item : i;
		int weight = req->weight ? req->weight[rank] : 1, h;

		while (first < req->n_hosts && !room[first])
			first++;
		for (h = first; h < req->n_hosts && room[h] < weight; h++)
			;
		if (h == req->n_hosts)
			return false;
		room[h] -= weight;
		rank_host[rank] = h;
	}
	return true;
}

int cpl_map_default_order(const struct cpl_map_request *req, int *rank_host,
                          struct cpl_error *err)
{
	int ranks = req->comm->ranks, rc = -1;
	int *room = malloc((size_t)req->n_hosts * sizeof(*room));
	struct sized *order = NULL;

	if (!room)
		return cpl_fail_memory(err);
	if (first_fit(req, NULL, room, rank_host)) {
		rc = 0;
		goto out;
	}
	order = malloc((size_t)ranks * sizeof(*order));
	if (!order) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int r = 0; r < ranks; r++)
		order[r] = (struct sized){req->weight ? req->weight[r] : 1, r};
	qsort(order, (size_t)ranks, sizeof(*order), heaviest_first);
	if (first_fit(req, order, room, rank_host))
		rc = 0;
	else
		cpl_fail(err, "ranks of these weights do not fit the slots of "
		              "the hosts");
out:
	free(room);
	free(order);
	return rc;
}

int cpl_map_check_weights(const struct cpl_map_request *req,
                          struct cpl_error *err)
{
	int ranks = req->comm->ranks, *rank_host, rc;

	if (!req->weight)
		return 0;
	for (int r = 0; r < ranks; r++)
		if (req->weight[r] < 1)
			return cpl_fail(
			        err,
			        "weight of rank %d is %d; it must be 1 or more",
			        r, req->weight[r]);
	rank_host = malloc((size_t)ranks * sizeof(*rank_host));
	if (!rank_host)
		return cpl_fail_memory(err);
	rc = cpl_map_default_order(req, rank_host, err);
	free(rank_host);
	return rc;
}

/* Slots left over hold ranks that say nothing: the same matrix, longer. */
static int run_with_spare(const struct cpl_mapper *mapper,
                          const struct cpl_map_request *req, int n_slots,
                          int *rank_host, struct cpl_error *err)
{
	struct cpl_map_request r = *req;
	struct cpl_comm comm = *req->comm, graph = *req->graph;
	size_t n = (size_t)n_slots, ranks = (size_t)comm.ranks;
	int *wide = malloc(n * sizeof(*wide));
	int rc = -1;

	comm.row = malloc((n + 1) * sizeof(*comm.row));
	graph.row = malloc((n + 1) * sizeof(*graph.row));
	if (!wide || !comm.row || !graph.row) {
		cpl_fail_memory(err);
		goto out;
	}
	for (size_t i = 0; i <= n; i++) {
		size_t at = i < ranks ? i : ranks;

		comm.row[i] = req->comm->row[at];
		graph.row[i] = req->graph->row[at];
	}
	comm.ranks = graph.ranks = n_slots;
	r.comm = &comm;
	r.graph = &graph;
	rc = cpl_mapper_map(mapper, &r, wide, err);
	if (!rc)
		memcpy(rank_host, wide, ranks * sizeof(*rank_host));
out:
	free(wide);
	free(comm.row);
	free(graph.row);
	return rc;
}

/* Ranks in parts, one for each host, under moves and swaps. */
struct parts {
	const struct cpl_map_request *req;
	int *part;        /* [ranks] */
	int *room;        /* [hosts] weight that still fits */
	int *head;        /* [hosts] first rank of a part, -1: none */
	int *next, *prev; /* [ranks] */
	double *bytes;    /* [hosts] of the rank at hand; 0 between uses */
	int *heard;       /* [hosts] parts with an entry in bytes */
	int64_t work;
};

static void enter(struct parts *p, int rank, int part)
{
	p->part[rank] = part;
	p->room[part] -= p->req->weight[rank];
	p->prev[rank] = -1;
	p->next[rank] = p->head[part];
	if (p->head[part] >= 0)
		p->prev[p->head[part]] = rank;
	p->head[part] = rank;
}

static void leave(struct parts *p, int rank)
{
	int part = p->part[rank];

	p->room[part] += p->req->weight[rank];
	if (p->prev[rank] >= 0)
		p->next[p->prev[rank]] = p->next[rank];
	else
		p->head[part] = p->next[rank];
	if (p->next[rank] >= 0)
		p->prev[p->next[rank]] = p->prev[rank];
}

/* What `rank` gains by going from its part to another while `other` comes the
 * opposite way. */
static double gain_of(struct parts *p, int rank, int to, int other)
{
	const struct cpl_comm *graph = p->req->graph;
	double gain = 0;

	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int u = graph->to[e];

		if (u == other)
			gain -= graph->bytes[e];
		else if (p->part[u] == to)
			gain += graph->bytes[e];
		else if (p->part[u] == p->part[rank])
			gain -= graph->bytes[e];
	}
	p->work -= graph->row[rank + 1] - graph->row[rank];
	return gain;
}

static bool improve(struct parts *p, int rank)
{
	const struct cpl_comm *graph = p->req->graph;
	const int *weight = p->req->weight;
	int own = p->part[rank], n_heard = 0, best_to = -1, best_swap = -1;
	double sum = 0, most;

	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int to = p->part[graph->to[e]];

		if (!(graph->bytes[e] > 0))
			continue;
		if (p->bytes[to] == 0)
			p->heard[n_heard++] = to;
		p->bytes[to] += graph->bytes[e];
		sum += graph->bytes[e];
	}
	most = GAIN * sum;
	for (int k = 0; k < n_heard && p->work > 0; k++) {
		int to = p->heard[k];
		double gain = p->bytes[to] - p->bytes[own];

		if (to == own)
			continue;
		if (p->room[to] >= weight[rank] && gain > most) {
			most = gain;
			best_to = to;
			best_swap = -1;
		}
		for (int u = p->head[to]; u >= 0; u = p->next[u]) {
			double both;

			if (p->room[to] + weight[u] < weight[rank] ||
			    p->room[own] + weight[rank] < weight[u])
				continue;
			both = gain_of(p, rank, to, u) +
			       gain_of(p, u, own, rank);
			if (both > most) {
				most = both;
				best_to = to;
				best_swap = u;
			}
		}
	}
	for (int k = 0; k < n_heard; k++)
		p->bytes[p->heard[k]] = 0;
	if (best_to < 0)
		return false;
	leave(p, rank);
	if (best_swap >= 0) {
		leave(p, best_swap);
		enter(p, best_swap, own);
	}
	enter(p, rank, best_to);
	return true;
}

static void improve_all(struct parts *p)
{
	const struct cpl_map_request *req = p->req;
	bool gained = true;

	p->work = WORK * (req->graph->n_entries + 1);
	for (int i = 0; i < PASSES && gained; i++) {
		gained = false;
		for (int r = 0; r < req->graph->ranks; r++) {
			if (p->work <= 0 ||
			    (req->expired && req->expired(req->expired_arg)))
				return;
			gained |= improve(p, r);
		}
	}
}

/* Ranks into parts that fit the hosts, in default order, then moved. */
static int gather(const struct cpl_map_request *req, int *part,
                  struct cpl_error *err)
{
	size_t ranks = (size_t)req->graph->ranks, hosts = (size_t)req->n_hosts;
	struct parts p = {
	        .req = req,
	        .part = part,
	        .room = malloc(hosts * sizeof(int)),
	        .head = malloc(hosts * sizeof(int)),
	        .next = malloc(ranks * sizeof(int)),
	        .prev = malloc(ranks * sizeof(int)),
	        .bytes = calloc(hosts, sizeof(double)),
	        .heard = malloc(hosts * sizeof(int)),
	};
	int rc = -1;

	if (!p.room || !p.head || !p.next || !p.prev || !p.bytes || !p.heard) {
		cpl_fail_memory(err);
		goto out;
	}
	if (cpl_map_default_order(req, part, err))
		goto out;
	for (int h = 0; h < req->n_hosts; h++) {
		p.room[h] = req->slots[h];
		p.head[h] = -1;
	}
	for (int r = req->graph->ranks - 1; r >= 0; r--)
		enter(&p, r, part[r]);
	improve_all(&p);
	rc = 0;
out:
	free(p.room);
	free(p.head);
	free(p.next);
	free(p.prev);
	free(p.bytes);
	free(p.heard);
	return rc;
}

/*
 * The mapper took every host to be large enough. The heaviest part chooses
 * first: its host, or the first one free that it fits. There always is one,
 * since each part fits the host that it was gathered for, and so do lighter
 * ones.
 */
static void make_fit(struct sized *size, int n, const int *room, bool *used,
                     int *host_of)
{
	qsort(size, (size_t)n, sizeof(*size), heaviest_first);
	for (int i = 0; i < n; i++) {
		int at = host_of[size[i].item];

		if (used[at] || room[at] < size[i].weight)
			for (at = 0; used[at] || room[at] < size[i].weight;)
				at++;
		used[at] = true;
		host_of[size[i].item] = at;
	}
}

static int run_weighted(const struct cpl_mapper *mapper,
                        const struct cpl_map_request *req, int *rank_host,
                        struct cpl_error *err)
{
	struct cpl_map_request r = *req;
	size_t hosts = (size_t)req->n_hosts;
	int ranks = req->comm->ranks, n = 0, rc = -1;
	int *part = malloc((size_t)ranks * sizeof(*part));
	int *number = malloc(hosts * sizeof(*number));
	int *host = malloc(hosts * sizeof(*host)); /* index into req->host */
	int *node = malloc(hosts * sizeof(*node));
	int *one = malloc(hosts * sizeof(*one));
	int *room = malloc(hosts * sizeof(*room));
	int *host_of = malloc(hosts * sizeof(*host_of));
	bool *used = calloc(hosts, sizeof(*used));
	struct sized *size = calloc(hosts, sizeof(*size));
	struct cpl_comm *comm = NULL, *graph = NULL;

	if (!part || !number || !host || !node || !one || !room || !host_of ||
	    !used || !size) {
		cpl_fail_memory(err);
		goto out;
	}
	if (gather(req, part, err))
		goto out;
	for (size_t h = 0; h < hosts; h++)
		number[h] = -1;
	for (int i = 0; i < ranks; i++)
		number[part[i]] = 0;
	for (int h = 0; h < req->n_hosts; h++) {
		if (number[h] < 0)
			continue;
		number[h] = size[n].item = n;
		host[n] = h;
		node[n] = req->host[h];
		room[n] = req->slots[h];
		one[n++] = 1;
	}
	for (int i = 0; i < ranks; i++) {
		part[i] = number[part[i]];
		size[part[i]].weight += req->weight[i];
	}
	comm = cpl_comm_contract(req->comm, part, n, 0, err);
	if (comm)
		graph = cpl_comm_symmetric(comm, err);
	if (!graph)
		goto out;
	r.comm = comm;
	r.graph = graph;
	r.n_hosts = n;
	r.host = node;
	r.slots = one;
	r.weight = NULL;
	if (cpl_mapper_map(mapper, &r, host_of, err))
		goto out;
	make_fit(size, n, room, used, host_of);
	for (int i = 0; i < ranks; i++)
		rank_host[i] = host[host_of[part[i]]];
	rc = 0;
out:
	cpl_comm_free(comm);
	cpl_comm_free(graph);
	free(part);
	free(number);
	free(host);
	free(node);
	free(one);
	free(room);
	free(host_of);
	free(used);
	free(size);
	return rc;
}

int cpl_map_run(const struct cpl_mapper *mapper,
                const struct cpl_map_request *req, int *rank_host,
                struct cpl_error *err)
{
	int64_t slots = 0;

	if (mapper == &cpl_mapper_linear)
		return cpl_map_default_order(req, rank_host, err);
	if (req->weight)
		return run_weighted(mapper, req, rank_host, err);
	for (int h = 0; h < req->n_hosts; h++)
		slots += req->slots[h];
	if (slots > req->comm->ranks)
		return run_with_spare(mapper, req, (int)slots, rank_host, err);
	return cpl_mapper_map(mapper, req, rank_host, err);
}
