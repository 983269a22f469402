/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages as flows: all that are under way share the links max-min fairly, and
 * the shares are computed anew whenever flows begin or end. Flows between the
 * same two nodes are one route to that computation. With a tolerance, flows
 * that would end shortly after each other end together at the last one's time,
 * as long as that makes none of them longer by more than the tolerance.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "simulate/maxmin.h"
#include "simulate/simulate_internal.h"

#define FIRST_BUCKETS 1024
/* Flows that are alike end together whatever the last bits of their times. */
#define LEAST_TOLERANCE 1e-12

struct route {
	struct cpl_maxmin_route fair; /* its shares are behind the struct */
	int from, to, at;             /* cables; number in route[] */
	struct route *next;           /* in the same bucket */
	struct cpl_share share[];
};

struct sim_flow {
	int transfer;
	struct route *route;
	double begun, left, end; /* left: bytes; end: at its rate so far */
};

struct flows {
	struct cpl_route_finder finder;
	struct cpl_maxmin maxmin;
	double *bandwidth; /* [links] */
	struct sim_flow *flow;
	int n_flows;
	struct route **bucket;
	uint32_t mask;
	struct cpl_maxmin_route **route; /* those with flows */
	int n_routes;
	double solved;    /* when */
	uint32_t version; /* of the valid event */
	bool stale;       /* flows have begun since then */
	double least;     /* lowest rate of those that ended since then */
};

enum { STEP = CPL_EVENT_LEVEL };

static int open_flows(struct cpl_simulation *sim)
{
	const struct cpl_network *net = sim->net;
	int64_t links = cpl_times_links(net);
	struct flows *f = cpl_arena_take(&sim->arena, 1, sizeof(*f));

	if (!f)
		return cpl_fail_memory(sim->err);
	sim->own = f;
	f->bandwidth = malloc((size_t)links * sizeof(*f->bandwidth));
	f->bucket = calloc(FIRST_BUCKETS, sizeof(struct route *));
	f->mask = FIRST_BUCKETS - 1;
	if (!f->bandwidth || !f->bucket)
		return cpl_fail_memory(sim->err);
	for (int64_t l = 0; l < links; l++)
		f->bandwidth[l] = cpl_times_bandwidth(net, l);
	return cpl_maxmin_init(&f->maxmin, links, f->bandwidth, sim->err) ||
	                       cpl_route_finder_init(&f->finder, net,
	                                             sim->options->routing,
	                                             sim->err)
	               ? -1
	               : 0;
}

static void close_flows(struct cpl_simulation *sim)
{
	struct flows *f = sim->own;

	if (!f)
		return;
	for (int i = 0; i < f->n_routes; i++)
		free(f->route[i]);
	cpl_free_all(f->route, f->flow, f->bucket, f->bandwidth);
	cpl_maxmin_free(&f->maxmin);
	cpl_route_finder_free(&f->finder);
}

static uint32_t bucket_of(const struct flows *f, int from, int to)
{
	return cpl_sim_hash(from, to) & f->mask;
}

/* Makes as many buckets as routes; without memory it only gets slower. */
static void widen(struct flows *f)
{
	size_t buckets = 2 * ((size_t)f->mask + 1);
	struct route **wider;

	if ((size_t)f->n_routes < buckets)
		return;
	wider = calloc(buckets, sizeof(struct route *));
	if (!wider)
		return;
	free(f->bucket);
	f->bucket = wider;
	f->mask = (uint32_t)buckets - 1;
	for (int i = 0; i < f->n_routes; i++) {
		struct route *r = (struct route *)f->route[i];
		struct route **b = &f->bucket[bucket_of(f, r->from, r->to)];

		r->next = *b;
		*b = r;
	}
}

/* A part may be too small to be a number. */
static void add_share(struct route *r, int64_t link, double part)
{
	if (!(part > 0))
		return;
	r->share[r->fair.n++] = (struct cpl_share){(int)link, part};
}

/* Adds the path from one port to another after those that r has, if any. */
static struct route *add_route(struct cpl_simulation *sim, struct route *r,
                             int from, int to, double part)
{
	const struct cpl_network *net = sim->net;
	struct flows *f = sim->own;
	int n, had = r ? r->fair.n : 0;
	const struct cpl_share *share = cpl_route_find_routers(
	        &f->finder, net->port_router[from], net->port_router[to], &n);
	struct route *grown = realloc(r, sizeof(*r) + ((size_t)(had + n) + 2) *
	                                                      sizeof(*share));

	if (!grown) {
		free(r);
		return NULL;
	}
	grown->fair.n = had;
	for (int i = 0; i < n; i++)
		add_share(grown, share[i].link, share[i].part * part);
	add_share(grown, cpl_sim_injection(net, from), part);
	add_share(grown, cpl_sim_ejection(net, to), part);
	return grown;
}

static struct route *make_route(struct cpl_simulation *sim, int from, int to)
{
	const struct cpl_network *net = sim->net;
	struct flows *f = sim->own;
	int ports = cpl_sim_ports(net);
	struct route *r = NULL;

	for (int p = 0; p < ports; p++) {
		r = add_route(sim, r, from + p, to + p,
		            ports > 1 ? net->port_share[p] : 1);
		if (!r)
			break;
	}
	if (!r || cpl_array_grow(&f->route, f->n_routes, sizeof(*f->route),
	                         sim->err)) {
		free(r);
		cpl_sim_fail_memory(sim);
		return NULL;
	}
	r->from = from;
	r->to = to;
	r->at = f->n_routes;
	r->fair.share = r->share;
	r->fair.flows = 0;
	r->fair.rate = 0;
	f->route[f->n_routes++] = &r->fair;
	return r;
}

static struct route *hold_route(struct cpl_simulation *sim, int from, int to)
{
	struct flows *f = sim->own;
	uint32_t b = bucket_of(f, from, to);
	struct route *r = f->bucket[b];

	while (r && (r->from != from || r->to != to))
		r = r->next;
	if (!r) {
		r = make_route(sim, from, to);
		if (!r)
			return NULL;
		r->next = f->bucket[b];
		f->bucket[b] = r;
		widen(f);
	}
	r->fair.flows++;
	r->fair.fresh = true;
	return r;
}

static void drop_route(struct flows *f, struct route *r)
{
	struct route **at = &f->bucket[bucket_of(f, r->from, r->to)];
	struct route *last;

	f->least = fmin(f->least, r->fair.rate);
	if (--r->fair.flows)
		return;
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	last = (struct route *)f->route[--f->n_routes];
	f->route[r->at] = &last->fair;
	last->at = r->at;
	free(r);
}

static void start(struct cpl_simulation *sim, int t)
{
	struct flows *f = sim->own;
	const struct cpl_transfer *transfer = &sim->transfer[t];
	struct route *route;

	if (cpl_array_grow(&f->flow, f->n_flows, sizeof(*f->flow), sim->err)) {
		cpl_sim_fail_memory(sim);
		return;
	}
	route = hold_route(sim, sim->rank[transfer->from].cable,
	                   sim->rank[transfer->to].cable);
	if (!route)
		return;
	f->flow[f->n_flows++] = (struct sim_flow){.transfer = t,
	                                          .route = route,
	                                          .begun = sim->now,
	                                          .left = transfer->bytes,
	                                          .end = INFINITY};
	if (f->stale)
		return;
	f->stale = true;
	cpl_events_add(&sim->events, sim->now, STEP, ++f->version);
}

/* Adds the bytes to the links, and tells the ranks. */
static void end_flow(struct cpl_simulation *sim, struct sim_flow *flow)
{
	const struct cpl_maxmin_route *r = &flow->route->fair;
	double bytes = sim->transfer[flow->transfer].bytes;

	for (int k = 0; k < r->n; k++)
		*cpl_times_at(&sim->result->bytes,
		              r->share[k].link) += bytes * r->share[k].part;
	drop_route(sim->own, flow->route);
	cpl_sim_sent(sim, flow->transfer);
	cpl_sim_delivered(sim, flow->transfer);
}

/* Moves flows from the last solve to now; they keep their order. */
static void advance(struct cpl_simulation *sim)
{
	struct flows *f = sim->own;
	double spent = sim->now - f->solved;
	int n = 0;

	for (int i = 0; i < f->maxmin.n_used && spent > 0; i++) {
		int link = f->maxmin.used[i];

		*cpl_times_at(&sim->result->busy, link) += spent;
		cpl_timeline_link(&sim->result->timeline, link,
		                  1 - fmax(f->maxmin.left[link], 0) /
		                              f->bandwidth[link],
		                  f->solved, sim->now);
	}
	for (int i = 0; i < f->n_flows; i++) {
		struct sim_flow *flow = &f->flow[i];

		if (flow->end <= sim->now) {
			end_flow(sim, flow);
			continue;
		}
		if (flow->end < INFINITY)
			flow->left -= flow->route->fair.rate * spent;
		f->flow[n++] = *flow;
	}
	/* Ranks react in later events. */
	f->n_flows = n;
	f->solved = sim->now;
}

/* The time when flows end next. */
static double next_end(const struct flows *f, double tolerance)
{
	double limit = INFINITY, next = 0;

	for (int i = 0; i < f->n_flows; i++) {
		const struct sim_flow *flow = &f->flow[i];

		limit = fmin(limit,
		             flow->end + tolerance * (flow->end - flow->begun));
	}
	for (int i = 0; i < f->n_flows; i++)
		if (f->flow[i].end <= limit)
			next = fmax(next, f->flow[i].end);
	return next;
}

static void step(struct cpl_simulation *sim, uint32_t kind, uint32_t version)
{
	struct flows *f = sim->own;

	if (version != f->version)
		return;
	advance(sim);
	f->stale = false;
	f->version++;
	f->maxmin.n_used = 0;
	if (!f->n_flows)
		return;
	if (cpl_maxmin_solve(&f->maxmin, f->route, f->n_routes, f->least,
	                     sim->err)) {
		sim->failed = true;
		return;
	}
	f->least = INFINITY;
	for (int i = 0; i < f->n_flows; i++) {
		struct sim_flow *flow = &f->flow[i];

		flow->end =
		        sim->now + fmax(flow->left, 0) / flow->route->fair.rate;
	}
	cpl_events_add(
	        &sim->events,
	        next_end(f, fmax(sim->options->tolerance, LEAST_TOLERANCE)),
	        STEP, f->version);
}

const struct cpl_sim_level cpl_sim_flow = {
        .name = "flow",
        .summary = "messages share links max-min fairly",
        .flags = CPL_SIM_LATENCY_FIRST,
        .open = open_flows,
        .close = close_flows,
        .start = start,
        .event = step,
};
