/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"
#include "routing/backlog.h"

#define SEED 1

/* Goes along one of the minimal paths between two routers, drawn in their shares; what is
 * before a packet on it, or with bytes > 0 its links, on which these are put. */
static double trace_path(struct cpl_backlog *q, int from, int to, uint64_t key,
                        double bytes)
{
	int n;
	const struct cpl_share *share =
	        cpl_route_find_routers(&q->minimal, from, to, &n);
	const int *link_from = q->net->link_from;
	double sum = 0;

	for (uint64_t step = 0; from != to; step++) {
		double all = 0, at;
		int link = -1;

		for (int i = 0; i < n; i++)
			if (link_from[share[i].link] == from)
				all += share[i].part;
		at = (double)(cpl_random_at(key, step) >> 11) * 0x1p-53 * all;
		for (int i = 0; i < n && at >= 0; i++)
			if (link_from[share[i].link] == from) {
				link = share[i].link;
				at -= share[i].part;
			}
		if (bytes > 0)
			cpl_backlog_put(q, link, bytes);
		sum += bytes > 0 ? 1 : cpl_backlog_wait(q, link);
		from = q->net->link_to[link];
	}
	return sum;
}

static uint64_t flow_of(const struct cpl_network *net,
                        const struct cpl_queued *p)
{
	return (uint64_t)p->from * (uint64_t)net->n_routers + (uint64_t)p->to;
}

/* Draws a router with nodes other than the ends; -1: there is none. */
static int draw_between(const struct cpl_network *net,
                        const struct cpl_queued *p)
{
	int low = p->from < p->to ? p->from : p->to;
	int high = p->from < p->to ? p->to : p->from, via;

	if (net->n_node_routers < 3)
		return -1;
	via = (int)cpl_random_below(SEED, flow_of(net, p), (uint64_t)p->number,
	                            (uint64_t)net->n_node_routers - 2);
	via += via >= low;
	return via + (via >= high);
}

static double send(struct cpl_backlog *q, const struct cpl_queued *p)
{
	uint64_t packet = flow_of(q->net, p) * CPL_BACKLOG_PACKETS +
	                  (uint64_t)p->number;
	uint64_t key[3]; /* of the minimal path, and of the two legs */
	int via = draw_between(q->net, p);

	for (uint64_t i = 0; i < 3; i++)
		key[i] = cpl_random_key(SEED + 1 + i, packet);
	if (via < 0 || trace_path(q, p->from, p->to, key[0], 0) <=
	                       trace_path(q, p->from, via, key[1], 0) +
	                               trace_path(q, via, p->to, key[2], 0))
		return trace_path(q, p->from, p->to, key[0], p->bytes);
	return trace_path(q, p->from, via, key[1], p->bytes) +
	       trace_path(q, via, p->to, key[2], p->bytes);
}

const struct cpl_routing cpl_routing_ugal = {
        .name = "ugal-g",
        .flags = CPL_ROUTING_ADAPTIVE | CPL_ROUTING_SAMPLED |
                 CPL_ROUTING_TWO_WAYS | CPL_NETWORK_GROUPS,
        .summary = "minimal or over a drawn router, by the queues of all links",
        .send = send,
        .hops = cpl_backlog_hops,
};
