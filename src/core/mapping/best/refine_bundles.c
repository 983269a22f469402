/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "mapping/best/best.h"

/* Evaluations between checkpoints. */
#define ROUND 512
#define MAX_HOT 64
/* Bundles with at least this share of the largest load are hot. */
#define HOT 0.9
/* The price of a relative change of hop-bytes in those of the sum of powers. */
#define PRICE 1.0

struct bundle_search {
	struct cpl_swaps swaps;
	struct cpl_bundle_loads loads;
	const struct cpl_bundles *bundles;
	double *weight; /* [bundles] */
	int *hot;       /* [MAX_HOT] */
	int n_hot;
	int *stop_at; /* [routers] or -1 */
	int *first, *host; /* hosts of a stop */
	double sum, cost, temperature;
	double limit; /* for cables */
};

static void note_hot(struct bundle_search *s, int bundle)
{
	if (s->loads.load[bundle] * s->weight[bundle] >= HOT &&
	    s->n_hot < MAX_HOT)
		s->hot[s->n_hot++] = bundle;
}

/* Scales links to the busiest link, and cables to the busiest cable where the
 * objective looks at them, else to their limit. */
static void scale(struct bundle_search *s, struct cpl_metrics *now)
{
	const struct cpl_bundles *b = s->bundles;
	bool busiest = s->swaps.req->objective == CPL_OBJECTIVE_BUSIEST;
	double cable;

	cpl_bundle_loads_max(&s->loads, &now->max_congestion,
	                     &now->max_injection);
	cable = now->max_injection;
	if (!busiest && cable < s->limit)
		cable = s->limit;
	s->n_hot = 0;
	s->sum = 0;
	for (int i = 0; i < b->n; i++) {
		double max = i < b->n_links ? now->max_congestion : cable;

		s->weight[i] = max > 0 ? 1 / max : 0;
		s->sum += cpl_load_power(s->loads.load[i] * s->weight[i]);
		note_hot(s, i);
	}
}

/* A host at either end of a hot bundle, or -1. */
static int hot_host(struct bundle_search *s)
{
	const struct cpl_bundles *b = s->bundles;
	const struct cpl_network *net = s->swaps.req->net;
	int bundle = s->hot[cpl_swaps_below(&s->swaps, s->n_hot)];
	bool to = cpl_random_next(&s->swaps.random) >> 63;
	int link, stop;

	if (bundle >= b->n_links)
		return (bundle - b->n_links) / 2;
	link = b->link[bundle];
	stop = s->stop_at[to ? net->link_to[link] : net->link_from[link]];
	return stop < 0 ? -1
	                : s->host[s->first[stop] +
	                          cpl_swaps_below(&s->swaps,
	                                          s->first[stop + 1] -
	                                                  s->first[stop])];
}

static int pick(struct bundle_search *s)
{
	struct cpl_swaps *w = &s->swaps;
	int host = -1;

	if (s->n_hot && cpl_random_next(&w->random) >> 63)
		host = hot_host(s);
	if (host < 0)
		return cpl_swaps_below(w, w->req->graph->ranks);
	return w->ranks.member[w->ranks.first[host] +
	                       cpl_swaps_below(w, w->req->slots[host])];
}

static void step(struct bundle_search *s)
{
	struct cpl_swaps *w = &s->swaps;
	struct cpl_bundle_loads *l = &s->loads;
	int a = pick(s);
	int b = cpl_random_next(&w->random) >> 63 ? cpl_swaps_partner(w, a)
	                                  : cpl_swaps_neighbour(w, a);
	double hops, change = 0, all;

	if (b < 0)
		return;
	cpl_bundle_loads_swap(l, w->ranks.set, a, b);
	for (int i = 0; i < l->n_touched; i++) {
		int at = l->touched[i];
		double x = l->load[at], weight = s->weight[at];

		change += cpl_load_power((x + l->change[at]) * weight) -
		          cpl_load_power(x * weight);
	}
	hops = cpl_swaps_delta(w, a, b);
	all = change / s->sum + PRICE * hops / s->cost;
	if (all < 0 || all < s->temperature * cpl_swaps_exponential(w)) {
		s->sum += change;
		s->cost += hops;
		cpl_members_swap(&w->ranks, a, b);
		cpl_bundle_loads_keep(l);
		return;
	}
	cpl_bundle_loads_undo(l);
}

static bool better(const struct bundle_search *s, const struct cpl_metrics *a,
                   double a_cost, const struct cpl_metrics *b, double b_cost)
{
	enum cpl_objective objective = s->swaps.req->objective;
	bool over = cpl_best_too_busy(objective, a, s->limit);

	if (over != cpl_best_too_busy(objective, b, s->limit))
		return !over;
	return cpl_best_better(objective, a, a_cost, b, b_cost);
}

static void descend(struct bundle_search *s, double heat, int64_t steps,
                    int *kept)
{
	struct cpl_swaps *w = &s->swaps;
	const struct cpl_map_request *req = w->req;
	size_t bytes = (size_t)req->graph->ranks * sizeof(int);
	int64_t rounds = steps / ROUND > 0 ? steps / ROUND : 1;
	struct cpl_metrics now = {0}, best;
	double best_cost;

	s->cost = best_cost = cpl_swaps_cost(w);
	scale(s, &now);
	best = now;
	memcpy(kept, w->ranks.set, bytes);
	for (int64_t r = 0; r < rounds && s->sum > 0 && s->cost > 0; r++) {
		if (cpl_map_expired(req))
			break;
		s->temperature = heat / ((double)req->graph->ranks + 1) *
		                 (double)(rounds - 1 - r) / (double)rounds;
		for (int64_t i = 0; i < steps / rounds; i++)
			step(s);
		/* Differences are rounded, which must not add up. */
		cpl_bundle_loads_afresh(&s->loads, w->ranks.set);
		s->cost = cpl_swaps_cost(w);
		scale(s, &now);
		if (better(s, &now, s->cost, &best, best_cost)) {
			best = now;
			best_cost = s->cost;
			memcpy(kept, w->ranks.set, bytes);
		}
	}
	memcpy(w->ranks.set, kept, bytes);
}

/* Lists hosts by stops, and the stops of routers. */
static void list_hosts(struct bundle_search *s)
{
	const struct cpl_map_request *req = s->swaps.req;

	for (int r = 0; r < req->net->n_routers; r++)
		s->stop_at[r] = -1;
	for (int h = 0; h < req->n_hosts; h++)
		s->stop_at[cpl_network_router(req->net, req->host[h])] =
		        s->bundles->stop[h];
	cpl_members_list(s->bundles->stop, req->n_hosts, s->bundles->n_stops,
	                 s->first, s->host);
}

int cpl_map_refine_bundles(const struct cpl_map_request *req,
                           const struct cpl_tables *tables, double heat,
                           int64_t size, uint64_t seed, int *rank_host,
                           struct cpl_error *err)
{
	const struct cpl_bundles *b = &tables->bundles;
	struct cpl_arena arena = {0};
	int *kept = cpl_arena_take(&arena, req->comm->ranks, sizeof(*kept));
	struct bundle_search s = {
	        .bundles = b,
	        .limit = tables->busiest,
	        .weight = cpl_arena_take(&arena, b->n, sizeof(double)),
	        .hot = cpl_arena_take(&arena, MAX_HOT, sizeof(int)),
	        .stop_at = cpl_arena_take(&arena, req->net->n_routers,
	                                  sizeof(int)),
	        .first = cpl_arena_take(&arena, b->n_stops + 2, sizeof(int)),
	        .host = cpl_arena_take(&arena, req->n_hosts, sizeof(int)),
	};
	int rc = -1;

	if (arena.failed ||
	    cpl_swaps_init(&s.swaps, req, tables, rank_host, seed, err))
		return cpl_arena_end(&arena, -1, err);
	list_hosts(&s);
	if (!cpl_bundle_loads_init(&s.loads, b, req, rank_host, err)) {
		descend(&s, heat, size / CPL_BUNDLE_WORK, kept);
		rc = 0;
	}
	cpl_bundle_loads_free(&s.loads);
	cpl_swaps_free(&s.swaps);
	return cpl_arena_end(&arena, rc, err);
}
