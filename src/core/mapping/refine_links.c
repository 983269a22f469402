/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mapping/best_internal.h"

/* Evaluations between two checkpoints: loads afresh, the hottest links. */
#define ROUND 4096
#define MAX_HOT 64
/* Links of at least this share of the largest congestion are hot. */
#define HOT 0.9
/* Price of a relative change of hop-bytes, in relative changes of the sum of
 * powers; what objectives other than the largest congestion ask. */
#define PRICE 30.0
#define PRICE_HOP_BYTES 1e4
/* Hop-bytes may grow that much while the search is hot. */
#define GROWTH 0.025

/* Routers up to which the routes of pairs are kept, and shares of links that
 * are kept at the most: 64 MB. */
#define KNOWN_ROUTERS 1024
#define KNOWN_MAX (4 << 20)

struct cpl_link_search {
	struct cpl_swaps *swaps;
	const struct cpl_routing *routing;
	int *in_row;         /* [ranks + 1] entries of a column of comm */
	int64_t *in;         /* [entries] indexes of comm's entries by column */
	int *entry_from;     /* [entries] source rank */
	double *load;        /* [links] */
	double *diff;        /* [links] of the swap at hand, 0 between uses */
	unsigned char *mark; /* [links] has an entry in touched */
	int *touched, n_touched;
	struct cpl_route_finder finder;
	double *weight; /* [links] 1 / bandwidth / largest congestion */
	/* Routes found so far: index in share of a pair of routers, 0: none; a
	 * length in .link, then the links. NULL: too many routers. */
	int *known; /* [routers * routers] */
	struct cpl_share *share;
	int n_share, share_max;
};

void cpl_link_search_free(struct cpl_link_search *l)
{
	if (!l)
		return;
	free(l->in_row);
	free(l->in);
	free(l->entry_from);
	free(l->load);
	free(l->diff);
	free(l->mark);
	free(l->touched);
	cpl_route_finder_free(&l->finder);
	free(l->weight);
	free(l->known);
	free(l->share);
	free(l);
}

static void index_columns(struct cpl_link_search *l,
                          const struct cpl_comm *comm)
{
	for (int64_t e = 0; e < comm->n_entries; e++)
		l->in_row[comm->to[e] + 2]++;
	for (int r = 0; r < comm->ranks; r++)
		l->in_row[r + 2] += l->in_row[r + 1];
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			l->entry_from[e] = r;
			l->in[l->in_row[comm->to[e] + 1]++] = e;
		}
}

static int router_of(const struct cpl_link_search *l, int rank)
{
	const struct cpl_map_request *req = l->swaps->req;

	return cpl_network_router(req->net,
	                          req->host[l->swaps->rank_host[rank]]);
}

/* Keep a route when there is room; else it is found anew from now on. */
static void remember(struct cpl_link_search *l, size_t pair,
                     const struct cpl_share *share, int n)
{
	int64_t need = (int64_t)l->n_share + 1 + n;

	if (!l->known || need > KNOWN_MAX)
		return;
	if (need > l->share_max) {
		struct cpl_share *more =
		        realloc(l->share, (size_t)(2 * need) * sizeof(*more));

		if (!more)
			return;
		l->share = more;
		l->share_max = (int)(2 * need);
	}
	l->known[pair] = l->n_share;
	l->share[l->n_share++] = (struct cpl_share){.link = n};
	memcpy(l->share + l->n_share, share, (size_t)n * sizeof(*share));
	l->n_share += n;
}

/* The links between two routers, *n of them. */
static const struct cpl_share *links_of(struct cpl_link_search *l, int from,
                                        int to, int *n)
{
	size_t pair = (size_t)from * (size_t)l->swaps->req->net->n_routers +
	              (size_t)to;
	const struct cpl_share *share;

	if (l->known && l->known[pair]) {
		share = l->share + l->known[pair];
		*n = share->link;
		return share + 1;
	}
	share = cpl_route_find(&l->finder, from, to, n);
	remember(l, pair, share, *n);
	return share;
}

/* Add the bytes of one pair to diff. */
static void route(struct cpl_link_search *l, int from, int to, double bytes)
{
	const struct cpl_share *share;
	int n;

	if (from == to || bytes == 0)
		return;
	share = links_of(l, from, to, &n);
	for (int i = 0; i < n; i++) {
		int link = share[i].link;

		l->diff[link] += bytes * share[i].part;
		if (!l->mark[link]) {
			l->mark[link] = 1;
			l->touched[l->n_touched++] = link;
		}
	}
}

/* All routes of a rank; those with `other` are left to its own turn. */
static void route_rank(struct cpl_link_search *l, int rank, int other,
                       double sign)
{
	const struct cpl_comm *comm = l->swaps->req->comm;
	int here = router_of(l, rank);

	for (int64_t e = comm->row[rank]; e < comm->row[rank + 1]; e++)
		if (comm->to[e] != other)
			route(l, here, router_of(l, comm->to[e]),
			      sign * comm->bytes[e]);
	for (int i = l->in_row[rank]; i < l->in_row[rank + 1]; i++) {
		int64_t e = l->in[i];

		route(l, router_of(l, l->entry_from[e]), here,
		      sign * comm->bytes[e]);
	}
}

/* Swap, and leave what changes in diff. */
static void try_swap(struct cpl_link_search *l, int a, int b)
{
	route_rank(l, a, b, -1);
	route_rank(l, b, a, -1);
	cpl_swaps_do(l->swaps, a, b);
	route_rank(l, a, b, 1);
	route_rank(l, b, a, 1);
}

static void forget(struct cpl_link_search *l)
{
	for (int i = 0; i < l->n_touched; i++) {
		l->diff[l->touched[i]] = 0;
		l->mark[l->touched[i]] = 0;
	}
	l->n_touched = 0;
}

static void apply(struct cpl_link_search *l)
{
	for (int i = 0; i < l->n_touched; i++)
		l->load[l->touched[i]] += l->diff[l->touched[i]];
	forget(l);
}

static void load_afresh(struct cpl_link_search *l)
{
	const struct cpl_map_request *req = l->swaps->req;
	const struct cpl_comm *comm = req->comm;

	if (req->background)
		memcpy(l->load, req->background->link,
		       (size_t)req->net->n_links * sizeof(*l->load));
	else
		memset(l->load, 0,
		       (size_t)req->net->n_links * sizeof(*l->load));
	for (int64_t e = 0; e < comm->n_entries; e++) {
		int from = router_of(l, l->entry_from[e]), n = 0;
		int to = router_of(l, comm->to[e]);
		const struct cpl_share *share = NULL;

		if (from != to && comm->bytes[e] > 0)
			share = links_of(l, from, to, &n);
		for (int i = 0; i < n; i++)
			l->load[share[i].link] +=
			        comm->bytes[e] * share[i].part;
	}
}

struct cpl_link_search *cpl_link_search_new(struct cpl_swaps *swaps,
                                            struct cpl_error *err)
{
	const struct cpl_network *net = swaps->req->net;
	const struct cpl_comm *comm = swaps->req->comm;
	size_t links = (size_t)net->n_links + 1;
	size_t entries = (size_t)comm->n_entries + 1;
	struct cpl_link_search *l = calloc(1, sizeof(*l));

	if (!l)
		goto fail;
	l->swaps = swaps;
	l->routing = cpl_routing_by_pairs(swaps->req->routing);
	l->in_row = calloc((size_t)comm->ranks + 2, sizeof(*l->in_row));
	l->in = malloc(entries * sizeof(*l->in));
	l->entry_from = malloc(entries * sizeof(*l->entry_from));
	l->load = malloc(links * sizeof(*l->load));
	l->diff = calloc(links, sizeof(*l->diff));
	l->mark = calloc(links, 1);
	l->touched = malloc(links * sizeof(*l->touched));
	l->weight = malloc(links * sizeof(*l->weight));
	if (!l->in_row || !l->in || !l->entry_from || !l->load || !l->diff ||
	    !l->mark || !l->touched || !l->weight ||
	    cpl_route_finder_init(&l->finder, net, l->routing, err))
		goto fail;
	l->n_share = 1;
	if (net->n_routers <= KNOWN_ROUTERS) {
		l->known =
		        calloc((size_t)net->n_routers * (size_t)net->n_routers,
		               sizeof(*l->known));
		if (!l->known)
			goto fail;
	}
	index_columns(l, comm);
	load_afresh(l);
	return l;
fail:
	cpl_link_search_free(l);
	cpl_fail_memory(err);
	return NULL;
}

const double *cpl_link_search_load(const struct cpl_link_search *l)
{
	return l->load;
}

void cpl_link_search_swap(struct cpl_link_search *l, int a, int b)
{
	try_swap(l, a, b);
	apply(l);
}

static double power(double x)
{
	double x2 = x * x, x4 = x2 * x2;

	return x4 * x4;
}

/* Scale to the largest congestion, and the sum of powers at that scale. */
static double scale(struct cpl_link_search *l, double *max, int *hot,
                    int *n_hot)
{
	const struct cpl_network *net = l->swaps->req->net;
	double sum = 0;

	*max = 0;
	*n_hot = 0;
	for (int64_t i = 0; i < net->n_links; i++) {
		l->weight[i] = 1 / cpl_network_link_bandwidth(net, i);
		if (l->load[i] * l->weight[i] > *max)
			*max = l->load[i] * l->weight[i];
	}
	for (int64_t i = 0; i<net->n_links && * max> 0; i++) {
		double x = l->load[i] * (l->weight[i] /= *max);

		sum += power(x);
		if (x >= HOT && *n_hot < MAX_HOT)
			hot[(*n_hot)++] = (int)i;
	}
	return sum;
}

/* A rank of a router at either end of a hot link, else any. */
static int pick_rank(struct cpl_link_search *l, const int *host_at,
                     const int *hot, int n_hot)
{
	struct cpl_swaps *s = l->swaps;
	const struct cpl_network *net = s->req->net;
	const struct cpl_tables *t = s->tables;
	int link, host;

	if (n_hot && cpl_swaps_random(s) >> 63) {
		link = hot[cpl_swaps_below(s, n_hot)];
		host = host_at[cpl_swaps_random(s) >> 63 ? net->link_from[link]
		                                         : net->link_to[link]];
		if (host >= 0)
			host = t->near[(size_t)host * (size_t)t->n_near +
			               (size_t)cpl_swaps_below(
			                       s, (t->n_near + 2) / 3)];
		if (host >= 0)
			return s->member[s->first[host] +
			                 cpl_swaps_below(s,
			                                 s->req->slots[host])];
	}
	return cpl_swaps_below(s, s->req->graph->ranks);
}

struct descent {
	double sum, cost; /* of powers; hop-bytes */
	double price, temperature;
	int hot[MAX_HOT], n_hot;
	int *host_at; /* [routers] a host of it, or -1 */
};

static void step(struct cpl_link_search *l, struct descent *d)
{
	struct cpl_swaps *s = l->swaps;
	int a = pick_rank(l, d->host_at, d->hot, d->n_hot);
	int b = cpl_swaps_random(s) >> 63 ? cpl_swaps_partner(s, a)
	                                  : cpl_swaps_neighbour(s, a);
	double hops, change = 0, all;

	if (b < 0)
		return;
	hops = cpl_swaps_delta(s, a, b);
	/* Nothing on the links can pay for this. */
	if (d->price * hops > 0.05 * d->cost)
		return;
	try_swap(l, a, b);
	for (int i = 0; i < l->n_touched; i++) {
		int link = l->touched[i];
		double x = l->load[link], w = l->weight[link];

		change += power((x + l->diff[link]) * w) - power(x * w);
	}
	all = change / d->sum + d->price * hops / d->cost;
	if (all < 0 || all < d->temperature * cpl_swaps_exponential(s)) {
		d->sum += change;
		d->cost += hops;
		apply(l);
		return;
	}
	cpl_swaps_do(s, a, b);
	forget(l);
}

static bool better(const struct cpl_map_request *req, double max, double cost,
                   double best_max, double best_cost)
{
	const struct cpl_metrics a = {.max_congestion = max};
	const struct cpl_metrics b = {.max_congestion = best_max};

	return cpl_best_better(req->objective, &a, cost, &b, best_cost);
}

static bool expired(const struct cpl_map_request *req)
{
	return req->expired && req->expired(req->expired_arg);
}

static void descend(struct cpl_link_search *l, double heat, int64_t steps,
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
	memcpy(kept, s->rank_host, bytes);
	for (int64_t r = 0; r < rounds && d->sum > 0 && d->cost > 0; r++) {
		if (expired(req))
			break;
		d->temperature =
		        start * (double)(rounds - 1 - r) / (double)rounds;
		/* As many ranks as there are would let hop-bytes grow by
		 * temperature * ranks / price. */
		d->price = price;
		if (d->temperature * ranks > GROWTH * price)
			d->price = d->temperature * ranks / GROWTH;
		for (int64_t i = 0; i < steps / rounds; i++) {
			if (i % 256 == 255 && expired(req))
				break;
			step(l, d);
		}
		/* Rounding of the differences must not add up. */
		load_afresh(l);
		d->cost = cpl_swaps_cost(s);
		d->sum = scale(l, &max, d->hot, &d->n_hot);
		if (better(req, max, d->cost, best_max, best_cost)) {
			best_max = max;
			best_cost = d->cost;
			memcpy(kept, s->rank_host, bytes);
		}
	}
	memcpy(s->rank_host, kept, bytes);
}

int cpl_map_refine_links(const struct cpl_map_request *req,
                         const struct cpl_tables *tables, double heat,
                         int64_t size, uint64_t seed, int *rank_host,
                         struct cpl_error *err)
{
	size_t routers = (size_t)req->net->n_routers;
	int *kept = malloc(((size_t)req->graph->ranks + 1) * sizeof(*kept));
	struct descent d = {
	        .price = req->objective == CPL_OBJECTIVE_MAX ? PRICE
	                                                     : PRICE_HOP_BYTES,
	        .host_at = malloc(routers * sizeof(int)),
	};
	struct cpl_link_search *l;
	struct cpl_swaps s;
	int rc = -1;

	if (!kept || !d.host_at) {
		cpl_fail_memory(err);
		goto out;
	}
	if (cpl_swaps_init(&s, req, tables, rank_host, seed, err))
		goto out;
	for (int i = 0; i < req->net->n_routers; i++)
		d.host_at[i] = -1;
	for (int h = 0; h < req->n_hosts; h++)
		d.host_at[cpl_network_router(req->net, req->host[h])] = h;
	l = cpl_link_search_new(&s, err);
	if (l) {
		descend(l, heat, size / CPL_LINK_WORK, &d, kept);
		rc = 0;
	}
	cpl_link_search_free(l);
	cpl_swaps_free(&s);
out:
	free(kept);
	free(d.host_at);
	return rc;
}
