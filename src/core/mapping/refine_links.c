/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "mapping/best/best.h"
#include "traffic/moves.h"

/* Evaluations between checkpoints, which renew loads and find hot links. */
#define ROUND 4096
#define MAX_HOT 64
/* Links with at least this share of the largest congestion are hot. */
#define HOT 0.9
/* The price of a relative change of hop-bytes, in relative changes of the sum
 * of powers; objectives other than the largest congestion ask the second. */
#define PRICE 20.0
#define PRICE_HOP_BYTES 1e4
/* Hop-bytes may grow by this share while the search is hot. */
#define GROWTH 0.025

struct links {
	struct cpl_swaps *swaps;
	struct cpl_moves moves;
	double *weight; /* [links] 1 / bandwidth / largest congestion */
};

/* Scales loads to the largest congestion; returns the sum of their powers. */
static double scale(struct links *l, double *max, int *hot, int *n_hot)
{
	const struct cpl_network *net = l->swaps->req->net;
	const double *load = l->moves.load;
	double sum = 0;

	*max = 0;
	*n_hot = 0;
	for (int64_t i = 0; i < net->n_links; i++) {
		l->weight[i] = 1 / cpl_network_link_bandwidth(net, i);
		if (load[i] * l->weight[i] > *max)
			*max = load[i] * l->weight[i];
	}
	for (int64_t i = 0; i < net->n_links && *max > 0; i++) {
		double x = load[i] * (l->weight[i] /= *max);

		sum += cpl_load_power(x);
		if (x >= HOT && *n_hot < MAX_HOT)
			hot[(*n_hot)++] = (int)i;
	}
	return sum;
}

/* Picks a rank of a router at either end of a hot link, else any rank. */
static int pick_rank(struct links *l, const int *host_at, const int *hot,
                     int n_hot)
{
	struct cpl_swaps *s = l->swaps;
	const struct cpl_network *net = s->req->net;
	const struct cpl_tables *t = s->tables;
	int link, host;

	if (n_hot && cpl_random_next(&s->random) >> 63) {
		link = hot[cpl_swaps_below(s, n_hot)];
		host = cpl_random_next(&s->random) >> 63
		               ? host_at[net->link_from[link]]
		               : host_at[net->link_to[link]];
		if (host >= 0)
			host = t->near[(size_t)host * (size_t)t->n_near +
			               (size_t)cpl_swaps_below(
			                       s, (t->n_near + 2) / 3)];
		if (host >= 0)
			return s->ranks.member[s->ranks.first[host] +
			                       cpl_swaps_below(
			                               s, s->req->slots[host])];
	}
	return cpl_swaps_below(s, s->req->graph->ranks);
}

struct descent {
	double sum, cost; /* of powers; hop-bytes */
	double price, temperature;
	int hot[MAX_HOT], n_hot;
	int *host_at; /* [routers] a host of it, or -1 */
};

static void step(struct links *l, struct descent *d)
{
	struct cpl_swaps *s = l->swaps;
	struct cpl_moves *m = &l->moves;
	int a = pick_rank(l, d->host_at, d->hot, d->n_hot);
	int b = cpl_random_next(&s->random) >> 63 ? cpl_swaps_partner(s, a)
	                                  : cpl_swaps_neighbour(s, a);
	double hops, change = 0, all;

	if (b < 0)
		return;
	hops = cpl_swaps_delta(s, a, b);
	/* No gain on the links can pay for this. */
	if (d->price * hops > 0.05 * d->cost)
		return;
	cpl_moves_swap(m, a, b);
	for (int i = 0; i < m->n_touched; i++) {
		int link = m->touched[i];
		double x = m->load[link], w = l->weight[link];

		change += cpl_load_power((x + m->change[link]) * w) -
		          cpl_load_power(x * w);
	}
	all = change / d->sum + d->price * hops / d->cost;
	if (all < 0 || all < d->temperature * cpl_swaps_exponential(s)) {
		d->sum += change;
		d->cost += hops;
		cpl_members_swap(&s->ranks, a, b);
		cpl_moves_keep(m);
		return;
	}
	cpl_moves_undo(m);
}

static bool better(const struct cpl_map_request *req, double max, double cost,
                   double best_max, double best_cost)
{
	const struct cpl_metrics a = {.max_congestion = max};
	const struct cpl_metrics b = {.max_congestion = best_max};

	return cpl_best_better(req->objective, &a, cost, &b, best_cost);
}

static void descend(struct links *l, double heat, int64_t steps,
                    struct descent *d, int *kept)
{
	struct cpl_swaps *s = l->swaps;
	const struct cpl_map_request *req = s->req;
	size_t bytes = (size_t)req->graph->ranks * sizeof(int);
	int64_t rounds = steps / ROUND > 0 ? steps / ROUND : 1;
	double ranks = (double)req->graph->ranks + 1, price = d->price;
	double start = heat / ranks;
	double max, best_max, best_cost;

	d->cost = best_cost = cpl_swaps_cost(s);
	d->sum = scale(l, &best_max, d->hot, &d->n_hot);
	memcpy(kept, s->ranks.set, bytes);
	for (int64_t r = 0; r < rounds && d->sum > 0 && d->cost > 0; r++) {
		if (cpl_map_expired(req))
			break;
		d->temperature =
		        start * (double)(rounds - 1 - r) / (double)rounds;
		/* Hop-bytes could grow by temperature * ranks / price. */
		d->price = price;
		if (d->temperature * ranks > GROWTH * price)
			d->price = d->temperature * ranks / GROWTH;
		for (int64_t i = 0; i < steps / rounds; i++) {
			if (i % 256 == 255 && cpl_map_expired(req))
				break;
			step(l, d);
		}
		/* Differences are rounded, which must not add up. */
		cpl_moves_afresh(&l->moves);
		d->cost = cpl_swaps_cost(s);
		d->sum = scale(l, &max, d->hot, &d->n_hot);
		if (better(req, max, d->cost, best_max, best_cost)) {
			best_max = max;
			best_cost = d->cost;
			memcpy(kept, s->ranks.set, bytes);
		}
	}
	memcpy(s->ranks.set, kept, bytes);
}

int cpl_map_refine_links(const struct cpl_map_request *req,
                         const struct cpl_tables *tables, double heat,
                         int64_t size, uint64_t seed, int *rank_host,
                         struct cpl_error *err)
{
	int ranks = req->comm->ranks, rc = -1;
	struct cpl_arena arena = {0};
	int *kept = cpl_arena_take(&arena, ranks, sizeof(*kept));
	int *node = cpl_arena_take(&arena, ranks, sizeof(*node));
	struct descent d = {
	        .price = cpl_objective_by_max(req->objective)
	                         ? PRICE
	                         : PRICE_HOP_BYTES,
	        .host_at = cpl_arena_take(&arena, req->net->n_routers,
	                                  sizeof(int)),
	};
	struct cpl_swaps s = {0};
	struct links l = {
	        .swaps = &s,
	        .weight = cpl_arena_take(&arena, req->net->n_links,
	                                 sizeof(double)),
	};

	if (arena.failed ||
	    cpl_swaps_init(&s, req, tables, rank_host, seed, err))
		return cpl_arena_end(&arena, -1, err);
	for (int i = 0; i < req->net->n_routers; i++)
		d.host_at[i] = -1;
	for (int h = 0; h < req->n_hosts; h++)
		d.host_at[cpl_network_router(req->net, req->host[h])] = h;
	for (int r = 0; r < ranks; r++)
		node[r] = req->host[rank_host[r]];
	if (!cpl_moves_init(
	            &l.moves, req->net, cpl_routing_by_flow(req->net, req->routing),
	            req->host, req->n_hosts,
	            req->background ? req->background->link : NULL, err) &&
	    !cpl_moves_job(&l.moves, req->comm, node, false, err)) {
		descend(&l, heat, size / CPL_LINK_WORK, &d, kept);
		rc = 0;
	}
	cpl_moves_free(&l.moves);
	cpl_swaps_free(&s);
	return cpl_arena_end(&arena, rc, err);
}
