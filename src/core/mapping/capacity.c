/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "graph/contract.h"
#include "mapping/mapping_internal.h"

#define PASSES 4
/* Moves and swaps look at up to this many edges per edge of the graph. */
#define WORK 200
#define GAIN 1e-9

/* Puts ranks in order, each on the first host with room. False: no room. */
static bool first_fit(const struct cpl_map_request *req,
                      const struct cpl_keyed *order, int *capacity,
                      int *rank_host)
{
	int first = 0;

	memcpy(capacity, req->slots, (size_t)req->n_hosts * sizeof(*capacity));
	for (int i = 0; i < req->comm->ranks; i++) {
		int rank = order ? order[i].item : i;
		int weight = req->weight ? req->weight[rank] : 1, h;

		while (first < req->n_hosts && !capacity[first])
			first++;
		for (h = first; h < req->n_hosts && capacity[h] < weight; h++)
			;
		if (h == req->n_hosts)
			return false;
		capacity[h] -= weight;
		rank_host[rank] = h;
	}
	return true;
}

/* Sorts the heaviest ranks first. */
static void sort_by_weight(struct cpl_keyed *order, const int *weight, int n)
{
	for (int i = 0; i < n; i++)
		order[i] = (struct cpl_keyed){
		        -(uint64_t)(weight ? weight[i] : 1), i};
	cpl_keyed_sort(order, n);
}

int cpl_map_default_order(const struct cpl_map_request *req, int *rank_host,
                          struct cpl_error *err)
{
	int ranks = req->comm->ranks, rc = 0;
	struct cpl_arena arena = {0};
	int *capacity = cpl_arena_take(&arena, req->n_hosts, sizeof(int));
	struct cpl_keyed *order = NULL;

	if (!capacity || first_fit(req, NULL, capacity, rank_host))
		return cpl_arena_end(&arena, 0, err);
	order = cpl_arena_take(&arena, ranks, sizeof(*order));
	if (order) {
		sort_by_weight(order, req->weight, ranks);
		if (!first_fit(req, order, capacity, rank_host))
			rc = cpl_fail(err, "ranks of these weights do not fit "
			                   "the slots of the hosts");
	}
	return cpl_arena_end(&arena, rc, err);
}

int cpl_map_check_weights(const struct cpl_map_request *req,
                          struct cpl_error *err)
{
	int ranks = req->comm->ranks, *rank_host, rc;
	struct cpl_arena arena = {0};

	if (!req->weight)
		return 0;
	for (int r = 0; r < ranks; r++)
		if (req->weight[r] < 1)
			return cpl_fail(
			        err,
			        "weight of rank %d is %d; it must be 1 or more",
			        r, req->weight[r]);
	rank_host = cpl_arena_take(&arena, ranks, sizeof(*rank_host));
	rc = rank_host ? cpl_map_default_order(req, rank_host, err) : -1;
	return cpl_arena_end(&arena, rc, err);
}

/* Slots left over get ranks without traffic: the same matrix with more rows. */
static int run_with_spare(const struct cpl_mapper *mapper,
                          const struct cpl_map_request *req, int n_slots,
                          int *rank_host, struct cpl_error *err)
{
	struct cpl_map_request r = *req;
	struct cpl_comm comm = *req->comm, graph = *req->graph;
	int ranks = comm.ranks, rc = -1;
	struct cpl_arena arena = {0};
	int *wide = cpl_arena_take(&arena, n_slots, sizeof(*wide));

	comm.row = cpl_arena_take(&arena, n_slots + 1, sizeof(*comm.row));
	graph.row = cpl_arena_take(&arena, n_slots + 1, sizeof(*graph.row));
	for (int i = 0; i <= n_slots && !arena.failed; i++) {
		int at = i < ranks ? i : ranks;

		comm.row[i] = req->comm->row[at];
		graph.row[i] = req->graph->row[at];
	}
	comm.ranks = graph.ranks = n_slots;
	r.comm = &comm;
	r.graph = &graph;
	if (!arena.failed)
		rc = cpl_mapper_map(mapper, &r, wide, err);
	if (!rc)
		memcpy(rank_host, wide, (size_t)ranks * sizeof(*rank_host));
	return cpl_arena_end(&arena, rc, err);
}

/* Ranks in parts, one for each host, that change by moves and swaps. */
struct rank_sets {
	const struct cpl_map_request *req;
	int *part;        /* [ranks] */
	int *capacity;    /* [hosts] weight that still fits */
	int *head;        /* [hosts] first rank of a part, -1: none */
	int *next, *prev; /* [ranks] */
	double *bytes;    /* [hosts] of the rank at hand; 0 between uses */
	int *heard;       /* [hosts] parts with an entry in bytes */
	int64_t work;
};

static void enter(struct rank_sets *p, int rank, int part)
{
	p->part[rank] = part;
	p->capacity[part] -= p->req->weight[rank];
	p->prev[rank] = -1;
	p->next[rank] = p->head[part];
	if (p->head[part] >= 0)
		p->prev[p->head[part]] = rank;
	p->head[part] = rank;
}

static void leave(struct rank_sets *p, int rank)
{
	int part = p->part[rank];

	p->capacity[part] += p->req->weight[rank];
	if (p->prev[rank] >= 0)
		p->next[p->prev[rank]] = p->next[rank];
	else
		p->head[part] = p->next[rank];
	if (p->next[rank] >= 0)
		p->prev[p->next[rank]] = p->prev[rank];
}

/* How much traffic `rank` saves by going from its part to another while `other`
 * comes the opposite way. */
static double gain_of(struct rank_sets *p, int rank, int to, int other)
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

static bool improve(struct rank_sets *p, int rank)
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
		if (p->capacity[to] >= weight[rank] && gain > most) {
			most = gain;
			best_to = to;
			best_swap = -1;
		}
		for (int u = p->head[to]; u >= 0; u = p->next[u]) {
			double both;

			if (p->capacity[to] + weight[u] < weight[rank] ||
			    p->capacity[own] + weight[rank] < weight[u])
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

static void improve_all(struct rank_sets *p)
{
	const struct cpl_map_request *req = p->req;
	bool gained = true;

	p->work = WORK * (req->graph->n_entries + 1);
	for (int i = 0; i < PASSES && gained; i++) {
		gained = false;
		for (int r = 0; r < req->graph->ranks; r++) {
			if (p->work <= 0 || cpl_map_expired(req))
				return;
			gained |= improve(p, r);
		}
	}
}

/* Gathers ranks in default order into parts that fit hosts, and moves them. */
static int gather(const struct cpl_map_request *req, int *part,
                  struct cpl_error *err)
{
	int ranks = req->graph->ranks, hosts = req->n_hosts, rc = -1;
	struct cpl_arena arena = {0};
	struct rank_sets p = {
	        .req = req,
	        .part = part,
	        .capacity = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .head = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .next = cpl_arena_take(&arena, ranks, sizeof(int)),
	        .prev = cpl_arena_take(&arena, ranks, sizeof(int)),
	        .bytes = cpl_arena_take(&arena, hosts, sizeof(double)),
	        .heard = cpl_arena_take(&arena, hosts, sizeof(int)),
	};

	if (!arena.failed)
		rc = cpl_map_default_order(req, part, err);
	for (int h = 0; h < hosts && !rc; h++) {
		p.capacity[h] = req->slots[h];
		p.head[h] = -1;
	}
	for (int r = ranks - 1; r >= 0 && !rc; r--)
		enter(&p, r, part[r]);
	if (!rc)
		improve_all(&p);
	return cpl_arena_end(&arena, rc, err);
}

/* The mapper took every host to be large enough, so parts must be made to fit.
 * The heaviest part chooses first: its own host, or the first free one that it
 * fits. There always is one, since each part fits the host that it was gathered
 * for, and so do lighter ones. */
static void make_fit(const struct cpl_keyed *order, int n, const int *weight,
                     const int *slots, bool *used, int *host_of)
{
	for (int i = 0; i < n; i++) {
		int part = order[i].item, at = host_of[part];

		if (used[at] || slots[at] < weight[part])
			for (at = 0; used[at] || slots[at] < weight[part];)
				at++;
		used[at] = true;
		host_of[part] = at;
	}
}

static int run_weighted(const struct cpl_mapper *mapper,
                        const struct cpl_map_request *req, int *rank_host,
                        struct cpl_error *err)
{
	int ranks = req->comm->ranks, hosts = req->n_hosts, n = 0, rc = -1;
	struct cpl_map_request r = *req;
	struct cpl_arena arena = {0};
	int *part = cpl_arena_take(&arena, ranks, sizeof(*part));
	int *number = cpl_arena_take(&arena, hosts, sizeof(*number));
	int *host = cpl_arena_take(&arena, hosts, sizeof(*host));
	int *node = cpl_arena_take(&arena, hosts, sizeof(*node));
	int *slots = cpl_arena_take(&arena, hosts, sizeof(*slots));
	int *one = cpl_arena_take(&arena, hosts, sizeof(*one));
	int *weight = cpl_arena_take(&arena, hosts, sizeof(*weight));
	int *host_of = cpl_arena_take(&arena, hosts, sizeof(*host_of));
	bool *used = cpl_arena_take(&arena, hosts, sizeof(*used));
	struct cpl_keyed *order =
	        cpl_arena_take(&arena, hosts, sizeof(*order));
	struct cpl_comm *comm = NULL, *graph = NULL;

	if (arena.failed || gather(req, part, err))
		goto out;
	for (int i = 0; i < ranks; i++)
		weight[part[i]] += req->weight[i];
	/* Only hosts that got ranks count; parts are numbered as they are. */
	for (int h = 0; h < hosts; h++) {
		if (!weight[h])
			continue;
		weight[n] = weight[h];
		number[h] = n;
		host[n] = h;
		node[n] = req->host[h];
		slots[n] = req->slots[h];
		one[n++] = 1;
	}
	for (int i = 0; i < ranks; i++)
		part[i] = number[part[i]];
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
	sort_by_weight(order, weight, n);
	make_fit(order, n, weight, slots, used, host_of);
	for (int i = 0; i < ranks; i++)
		rank_host[i] = host[host_of[part[i]]];
	rc = 0;
out:
	cpl_comm_free(comm);
	cpl_comm_free(graph);
	return cpl_arena_end(&arena, rc, err);
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
