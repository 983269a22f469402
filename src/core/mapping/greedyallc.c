/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/heap.h"
#include "graph/members.h"
#include "mapping/mapping_internal.h"

/* The clock is looked at once in this many clusters. */
#define CHECK_EVERY 16
/* A search near the heaviest partner pays up to this number of partners, and
 * gives up after one in so many of the leaves. */
#define RING_PARTNERS 32
#define RING_SHARE 8
/* Bounds may miss the least cost by this share, since they are summed up in
 * another order than costs. */
#define SLACK 1e-9

struct greedyallc {
	const struct cpl_map_request *req;
	struct cpl_distance distance;
	struct cpl_heap heap; /* unmapped ranks by pull */
	double *pull;         /* [ranks] traffic to mapped ranks */
	double *cost;         /* [leaves] of the cluster at hand */
	double *leaf_weight;  /* [leaves] traffic of the cluster to that leaf */
	double *host_weight;  /* [hosts] */
	int *touched;         /* [leaves] with leaf_weight > 0 */
	int *free_slots;      /* [hosts] */
	struct cpl_rings rings;
	int *leaf_free;  /* [leaves] free slots there */
	int *first_on, *next_on; /* chains of the hosts of a leaf */
	int lowest_free; /* no host before it has a free slot */
	bool corner;     /* start far from all */
};

/* The host nearest to, or farthest from, all slots; ties go to the first. */
static int first_host(struct greedyallc *s)
{
	const struct cpl_map_request *req = s->req;
	struct cpl_distance *d = &s->distance;
	int best = -1;
	double least = 0;
	bool summed;

	for (int i = 0; i < d->n_leaves; i++)
		s->leaf_weight[i] = s->cost[i] = 0;
	for (int h = 0; h < req->n_hosts; h++)
		s->leaf_weight[d->leaf[h]] += req->slots[h];
	summed = cpl_distance_sums(d, s->leaf_weight, s->cost);
	for (int i = 0; !summed && i < d->n_leaves; i++) {
		const float *row = cpl_distance_row(d, i);

		for (int j = 0; j < d->n_leaves; j++)
			s->cost[i] += s->leaf_weight[j] * (double)row[j];
		if (i % CHECK_EVERY == 0 && cpl_map_expired(req))
			break;
	}
	for (int h = 0; h < req->n_hosts; h++) {
		double cost = s->cost[d->leaf[h]] * (s->corner ? -1 : 1);

		if (req->slots[h] && (best < 0 || cost < least)) {
			best = h;
			least = cost;
		}
	}
	for (int i = 0; i < d->n_leaves; i++)
		s->leaf_weight[i] = 0;
	return best;
}

/* The best of the hosts looked at so far. */
struct found {
	int host;
	double cost;
};

/* The best host has the least bytes * hops to the cluster's mapped partners;
 * among equals the one with most of the cluster's traffic inside it, then the
 * first. */
static void consider(const struct greedyallc *s, int host, double cost,
                     struct found *best)
{
	const double *weight = s->host_weight;

	if (best->host >= 0 &&
	    (cost > best->cost ||
	     (cost == best->cost &&
	      (weight[host] < weight[best->host] ||
	       (weight[host] == weight[best->host] && host > best->host)))))
		return;
	best->host = host;
	best->cost = cost;
}

static int search_all(struct greedyallc *s, int n_touched)
{
	struct cpl_distance *d = &s->distance;
	struct found best = {.host = -1};
	double *cost = s->cost;

	for (int i = 0; i < d->n_leaves; i++)
		cost[i] = 0;
	for (int k = 0; k < n_touched; k++) {
		const float *row = cpl_distance_row(d, s->touched[k]);
		double weight = s->leaf_weight[s->touched[k]];

		for (int i = 0; i < d->n_leaves; i++)
			cost[i] += weight * (double)row[i];
	}
	for (int h = s->lowest_free; h < s->req->n_hosts; h++)
		if (s->free_slots[h])
			consider(s, h, cost[d->leaf[h]], &best);
	return best.host;
}

/* Does the same by rings around the heaviest partner. A host in ring l is at
 * least l - m hops from a partner m hops from the centre, which bounds the cost
 * from below, so that rings without a better host are not looked at. -1: it
 * gave up. */
static int search_rings(struct greedyallc *s, int n_touched)
{
	struct cpl_distance *d = &s->distance;
	const struct cpl_rings *rings = &s->rings;
	struct found best = {.host = -1};
	double away[RING_PARTNERS];
	int centre = s->touched[0];

	for (int k = 1; k < n_touched; k++)
		if (s->leaf_weight[s->touched[k]] > s->leaf_weight[centre])
			centre = s->touched[k];
	for (int k = 0; k < n_touched; k++)
		away[k] = cpl_distance_between(d, centre, s->touched[k]);
	for (int l = 0; l <= rings->max; l++) {
		double bound = 0;

		if (rings->start[l] > d->n_leaves / RING_SHARE)
			return -1;
		for (int k = 0; k < n_touched; k++)
			if (l > away[k])
				bound += s->leaf_weight[s->touched[k]] *
				         (l - away[k]);
		if (best.host >= 0 && bound > best.cost * (1 + SLACK))
			break;
		for (int64_t i = rings->start[l]; i < rings->start[l + 1];
		     i++) {
			int leaf = cpl_rings_leaf(rings, centre, i);
			double cost = 0;

			if (leaf < 0 || !s->leaf_free[leaf])
				continue;
			for (int k = 0; k < n_touched; k++)
				cost += s->leaf_weight[s->touched[k]] *
				        cpl_distance_between(d, s->touched[k],
				                             leaf);
			for (int h = s->first_on[leaf]; h >= 0;
			     h = s->next_on[h])
				if (s->free_slots[h])
					consider(s, h, cost, &best);
		}
	}
	return best.host;
}

static int best_host(struct greedyallc *s, int cluster, const int *rank_host)
{
	const struct cpl_comm *graph = s->req->graph;
	struct cpl_distance *d = &s->distance;
	int n_touched = 0, best = -1;

	while (!s->free_slots[s->lowest_free])
		s->lowest_free++;
	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1];
	     e++) {
		int host = rank_host[graph->to[e]];

		if (host < 0 || graph->bytes[e] <= 0)
			continue;
		if (s->leaf_weight[d->leaf[host]] == 0)
			s->touched[n_touched++] = d->leaf[host];
		s->leaf_weight[d->leaf[host]] += graph->bytes[e];
		s->host_weight[host] += graph->bytes[e];
	}
	if (n_touched == 0)
		return s->lowest_free;
	if (s->rings.distance && n_touched <= RING_PARTNERS)
		best = search_rings(s, n_touched);
	if (best < 0)
		best = search_all(s, n_touched);
	for (int k = 0; k < n_touched; k++)
		s->leaf_weight[s->touched[k]] = 0;
	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1]; e++)
		if (rank_host[graph->to[e]] >= 0)
			s->host_weight[rank_host[graph->to[e]]] = 0;
	return best;
}

static void assign_cluster(struct greedyallc *s, int cluster, int host,
                           int *rank_host)
{
	const struct cpl_comm *graph = s->req->graph;

	rank_host[cluster] = host;
	s->free_slots[host]--;
	s->leaf_free[s->distance.leaf[host]]--;
	cpl_heap_remove(&s->heap, cluster);
	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1];
	     e++) {
		int other = graph->to[e];

		if (rank_host[other] >= 0)
			continue;
		s->pull[other] += graph->bytes[e];
		cpl_heap_raise(&s->heap, other);
	}
}

/* After the end of the budget the other ranks go in order to the free slots. */
static void fill(struct greedyallc *s, int *rank_host)
{
	int host = 0;

	for (int r = 0; r < s->req->graph->ranks; r++) {
		if (rank_host[r] >= 0)
			continue;
		while (!s->free_slots[host])
			host++;
		rank_host[r] = host;
		s->free_slots[host]--;
	}
}

static void greedy(struct greedyallc *s, int *rank_host)
{
	const struct cpl_map_request *req = s->req;
	int ranks = req->graph->ranks;

	for (int r = 0; r < ranks; r++) {
		rank_host[r] = -1;
		cpl_heap_push(&s->heap, r);
	}
	for (int h = 0; h < req->n_hosts; h++) {
		s->free_slots[h] = req->slots[h];
		s->leaf_free[s->distance.leaf[h]] += req->slots[h];
	}
	cpl_members_chain(s->distance.leaf, req->n_hosts, s->distance.n_leaves,
	                  s->first_on, s->next_on);
	assign_cluster(s, cpl_comm_heaviest(req->graph), first_host(s),
	               rank_host);
	for (int done = 1; done < ranks; done++) {
		int cluster = s->heap.item[0];

		if (done % CHECK_EVERY == 0 && cpl_map_expired(req))
			break;
		assign_cluster(s, cluster, best_host(s, cluster, rank_host),
		               rank_host);
	}
	fill(s, rank_host);
}

static int map_from(const struct cpl_map_request *req, bool corner,
                    int *rank_host, struct cpl_error *err)
{
	int hosts = req->n_hosts, rc = -1;
	struct cpl_arena arena = {0};
	struct greedyallc s = {
	        .req = req,
	        .pull = cpl_arena_take(&arena, req->graph->ranks,
	                               sizeof(double)),
	        .cost = cpl_arena_take(&arena, hosts, sizeof(double)),
	        .leaf_weight = cpl_arena_take(&arena, hosts, sizeof(double)),
	        .host_weight = cpl_arena_take(&arena, hosts, sizeof(double)),
	        .touched = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .free_slots = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .leaf_free = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .first_on = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .next_on = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .corner = corner,
	};

	if (!arena.failed &&
	    !cpl_distance_init(&s.distance, req->net, req->routing, req->host,
	                       hosts, err) &&
	    cpl_rings_init(&s.rings, &s.distance, err) >= 0 &&
	    !cpl_heap_init(&s.heap, req->graph->ranks, s.pull, err)) {
		greedy(&s, rank_host);
		rc = 0;
	}
	cpl_heap_free(&s.heap);
	cpl_rings_free(&s.rings);
	cpl_distance_free(&s.distance);
	return cpl_arena_end(&arena, rc, err);
}

int cpl_map_greedyallc(const struct cpl_map_request *req, int *rank_host,
                       struct cpl_error *err)
{
	return map_from(req, false, rank_host, err);
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	if (cpl_map_greedyallc(req, rank_host, err))
		return -1;
	return cpl_objective_by_max(req->objective) && !cpl_map_expired(req)
	               ? cpl_map_repair(req, rank_host, err)
	               : 0;
}

int cpl_map_greedyallc_corner(const struct cpl_map_request *req, int *rank_host,
                              struct cpl_error *err)
{
	return map_from(req, true, rank_host, err);
}

const struct cpl_mapper cpl_mapper_greedyallc = {
        .name = "greedyallc",
        .summary = "GreedyALLC: heaviest partner next, on the nearest host",
        .map = map,
};
