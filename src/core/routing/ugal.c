/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"
#include "routing/backlog.h"

#define SEED 1

/* What a packet has before it between two routers. */
static double waits_before(struct cpl_backlog *q, int from, int to)
{
	int n;
	const struct cpl_share *share =
	        cpl_route_find_routers(&q->minimal, from, to, &n);
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += share[i].part * q->seconds[share[i].link];
	return sum;
}

/* Puts a packet on the minimal paths between two routers; their links. */
static double put_minimal(struct cpl_backlog *q, int from, int to, double bytes)
{
	int n;
	const struct cpl_share *share =
	        cpl_route_find_routers(&q->minimal, from, to, &n);
	double hops = 0;

	for (int i = 0; i < n; i++) {
		cpl_backlog_put(q, share[i].link, bytes * share[i].part);
		hops += share[i].part;
	}
	return hops;
}

/* Draws a router with nodes other than the ends; -1: there is none. */
static int draw_between(const struct cpl_network *net,
                        const struct cpl_queued *p)
{
	int low = p->from < p->to ? p->from : p->to;
	int high = p->from < p->to ? p->to : p->from, via;
	uint64_t flow = (uint64_t)p->from * (uint64_t)net->n_routers +
	                (uint64_t)p->to;

	if (net->n_node_routers < 3)
		return -1;
	via = (int)cpl_random_below(SEED, flow, (uint64_t)p->number,
	                            (uint64_t)net->n_node_routers - 2);
	via += via >= low;
	return via + (via >= high);
}

static double send(struct cpl_backlog *q, const struct cpl_queued *p)
{
	int via = draw_between(q->net, p);

	if (via < 0 ||
	    waits_before(q, p->from, p->to) <=
	            waits_before(q, p->from, via) + waits_before(q, via, p->to))
		return put_minimal(q, p->from, p->to, p->bytes);
	return put_minimal(q, p->from, via, p->bytes) +
	       put_minimal(q, via, p->to, p->bytes);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_minimal(net)->hops(net, from, to);
}

const struct cpl_routing cpl_routing_ugal = {
        .name = "ugal-g",
        .flags = CPL_ROUTING_ADAPTIVE | CPL_ROUTING_SAMPLED |
                 CPL_NETWORK_GROUPS,
        .summary = "minimal or over a drawn router, by the queues of all links",
        .send = send,
        .hops = hops,
};
