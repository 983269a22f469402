/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets take paths of the network's routing, drawn for each packet in the
 * routing's shares; or the least loaded of several, as the queue of their first
 * link (local) or of all their links (global) tells; or they choose link by
 * link.
 */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "network/type.h"
#include "simulate/packets.h"

/* `valiant` is from Valiant 1982. */
const struct cpl_sim_routing cpl_sim_static = {
        .name = "static",
        .summary = "paths of the network's minimal routing, in its shares",
        .direct = 1,
};
const struct cpl_sim_routing cpl_sim_valiant = {
        .name = "valiant",
        .short_name = "VAL",
        .summary = "by a router drawn for each packet",
        .stands_for = "static-indirect",
        .indirect = 1,
};
/* From Singh 2005, and Kim, Dally, Scott, Abts, ISCA 2008. */
const struct cpl_sim_routing cpl_sim_ugal_local = {
        .name = "ugal-l",
        .summary = "minimal or valiant, by the first link's queue and hops",
        .direct = 1,
        .indirect = 1,
};
const struct cpl_sim_routing cpl_sim_ugal_global = {
        .name = "ugal-g",
        .summary = "minimal or valiant, by the queues of all links",
        .stands_for = "adaptive-hybrid",
        .direct = 1,
        .indirect = 1,
        .global = true,
};
/* From Jiang, Kim, Dally, ISCA 2009; over a group: Kim et al., ISCA 2008. */
const struct cpl_sim_routing cpl_sim_progressive = {
        .name = "progressive-adaptive",
        .short_name = "PAR",
        .summary = "as ugal-l, looked at again as long as in the group; among "
                   "groups over a group, see routing/progressive",
        .direct = 1,
        .indirect = 1,
        .again = true,
};
const struct cpl_sim_routing cpl_sim_adaptive = {
        .name = "adaptive",
        .summary = "at each router the least loaded link of a shortest way",
        .stands_for = "adaptive-direct",
        .hop_by_hop = true,
};

/* A path may have at most so many links more than the routing lists. */
#define MAX_PATH 100000

double cpl_packet_draw(const struct cpl_packets *p,
                       const struct cpl_packet *packet, int i)
{
	const struct cpl_flight *f = &p->flight[packet->transfer];
	double u = (double)(cpl_random_at(f->key,
	                                  i ? (uint64_t)packet->number * 64 +
	                                                  (uint64_t)i
	                                    : 0) >>
	                    11) *
	           0x1p-53;
	int64_t place;

	if (i)
		return u;
	place = (int64_t)((__int128)packet->number * f->stride % f->packets);
	/* The sum may be rounded up to 1. */
	return fmin(((double)place + u) / (double)f->packets,
	            0x1.fffffffffffffp-1);
}

static int list_turns(struct cpl_simulation *sim)
{
	const struct cpl_network *net = sim->net;
	const struct cpl_product *torus = &net->product;
	struct cpl_packets *p = sim->own;

	p->turn_of = calloc((size_t)net->n_links + 1, 1);
	if (!p->turn_of)
		return cpl_fail_memory(sim->err);
	for (int r = 0; r < net->n_routers; r++)
		for (int d = 0; d < torus->n_dims; d++)
			for (int minus = 1; minus >= 0; minus--) {
				int64_t link =
				        torus->out[((int64_t)r * torus->n_dims +
				                    d) * 2 +
				                   minus];

				if (link >= 0)
					p->turn_of[link] =
					        (unsigned char)(2 * d + minus);
			}
	return 0;
}

int cpl_packet_routes_open(struct cpl_simulation *sim)
{
	const struct cpl_network *net = sim->net;
	struct cpl_packets *p = sim->own;

	p->choice =
	        sim->options->choice ? sim->options->choice : &cpl_sim_static;
	p->routing = sim->options->routing;
	p->group = net->n_levels > 1 ? &net->level[0] : NULL;
	if (p->choice->again && net->type->flags & CPL_NETWORK_GROUPS)
		p->groups = cpl_groups_of(net);
	p->rule = CPL_CHANNEL_HOPS;
	p->classes = 4;
	if (cpl_network_product(net)) {
		if (p->routing == &cpl_routing_dimension_order)
			p->rule = CPL_CHANNEL_DATELINE;
		if (p->choice->hop_by_hop)
			p->rule = CPL_CHANNEL_ESCAPE;
		p->classes = p->rule == CPL_CHANNEL_ESCAPE ? 3 : 2;
		if (list_turns(sim))
			return -1;
	}
	/* All shortest paths make it as even as it can be. */
	if (p->choice->hop_by_hop && p->rule != CPL_CHANNEL_ESCAPE) {
		const struct cpl_routing *even =
		        cpl_routing_find(net, "ecmp", NULL);

		if (even && even->add)
			p->routing = even;
	}
	return cpl_route_finder_init(&p->finder, net, p->routing, sim->err);
}

static int coordinate(const struct cpl_product *torus, int d, int router)
{
	unsigned rest = (unsigned)router;

	for (int i = 0; i < d; i++)
		rest /= (unsigned)torus->dim[i];
	return (int)(rest % (unsigned)torus->dim[d]);
}

/* 0: the ring's wrap is still to come on the path to `to`; 1: it is not. */
static int dateline(const struct cpl_packets *p, const struct cpl_network *net,
                    int64_t link, int to)
{
	const struct cpl_product *torus = &net->product;
	int d = p->turn_of[link] / 2, minus = p->turn_of[link] % 2;
	int at = coordinate(torus, d, net->link_from[link]);
	int goal = coordinate(torus, d, to);

	return minus ? goal <= at : goal >= at;
}

/* The router at the end of the packet's leg. */
static int goal_of(const struct cpl_packet *packet)
{
	return packet->via >= 0 ? packet->via : packet->to;
}

static int channel_in_class(const struct cpl_packets *p,
                            const struct cpl_packet *packet)
{
	return p->lanes == 1 ? 0
	                     : (int)(p->flight[packet->transfer].key %
	                             (uint64_t)p->lanes);
}

static bool put_link(struct cpl_simulation *sim, int packet, int n, int link)
{
	struct cpl_packets *p = sim->own;

	if (n >= p->stride &&
	    !cpl_packets_widen(sim, 2 * p->stride, p->classes))
		return false;
	p->path[(int64_t)packet * p->stride + n] = link;
	return true;
}

static bool fail_path(struct cpl_simulation *sim)
{
	cpl_fail(sim->err, "the paths of routing %s have no end",
	         ((struct cpl_packets *)sim->own)->routing->name);
	sim->failed = true;
	return false;
}

/* The routes of a file need not be shortest, so they are not mixed. */
static int table_path(struct cpl_simulation *sim, int packet, int n, int from,
                      int to, double x)
{
	const struct cpl_route_table *table = sim->net->routes;
	const int64_t *pair =
	        table->first + (int64_t)from * sim->net->n_node_routers + to;
	int64_t route = pair[0] + (int64_t)(x * (double)(pair[1] - pair[0]));

	for (int64_t i = table->start[route]; i < table->start[route + 1]; i++)
		if (!put_link(sim, packet, n++, table->link[i]))
			return -1;
	return n;
}

/* Appends to the n links of the packet's path one path between two routers: the
 * one at position x of all, where paths through one router are in the order of
 * the list. Returns the links then, or -1: it failed. */
static int draw_path(struct cpl_simulation *sim, int packet, int n, int from,
                     int to, double x)
{
	const struct cpl_network *net = sim->net;
	struct cpl_packets *p = sim->own;
	const struct cpl_share *share;
	int n_shares, limit = n + MAX_PATH;

	if (from == to)
		return n;
	if (p->routing->flags & CPL_NETWORK_TABLES)
		return table_path(sim, packet, n, from, to, x);
	share = cpl_route_find_routers(&p->finder, from, to, &n_shares);
	while (from != to && n < limit) {
		double sum = 0, before = 0, part = 0;
		int link = -1;

		for (int i = 0; i < n_shares; i++)
			if (net->link_from[share[i].link] == from)
				sum += share[i].part;
		for (int i = 0; i < n_shares; i++) {
			if (net->link_from[share[i].link] != from)
				continue;
			before += part;
			part = share[i].part / sum;
			link = share[i].link;
			if (x < before + part)
				break;
		}
		if (link < 0)
			break;
		x = (x - before) / part;
		x = x < 0 ? 0 : x >= 1 ? 0x1.fffffffffffffp-1 : x;
		if (!put_link(sim, packet, n++, link))
			return -1;
		from = net->link_to[link];
	}
	if (from == to)
		return n;
	fail_path(sim);
	return -1;
}

/* The load that a packet has before it on the path. */
static double cost(const struct cpl_packets *p, int packet, int first, int hops)
{
	const int *path = p->path + (int64_t)packet * p->stride;
	double sum = 0;

	if (hops == first)
		return 0;
	if (!p->choice->global)
		return (double)p->link[path[first]].load * (hops - first);
	for (int i = first; i < hops; i++)
		sum += p->link[path[i]].load;
	return sum;
}

/* Draws a router other than the two; -1: there is none. */
static int draw_via(const struct cpl_simulation *sim, int from, int to,
                    double x)
{
	int n = sim->net->n_node_routers - 2, via;
	int low = from < to ? from : to, high = from < to ? to : from;

	if (n < 1)
		return -1;
	via = (int)(x * n);
	via += via >= low;
	return via + (via >= high);
}

/* Which of n even parts holds position x; *x becomes the position in it. */
static int cut(double *x, int n)
{
	int i = (int)(*x * n);

	*x = fmin(*x * n - i, 0x1.fffffffffffffp-1);
	return i;
}

static int inside_group(struct cpl_simulation *sim, int packet, int n, int from,
                        int to, double x)
{
	const struct cpl_linked_groups *g =
	        &((struct cpl_packets *)sim->own)->groups;
	int link[CPL_GROUPS_INSIDE],
	        hops = cpl_groups_path(g, from, to, x, link);

	for (int i = 0; i < hops; i++)
		if (!put_link(sim, packet, n++, link[i]))
			return -1;
	return n;
}

/* Does the same over a group other than the two, by any of the links there and
 * any of those on from there. */
static int draw_group(struct cpl_simulation *sim, int packet, int n, int router,
                      int to, double x)
{
	const struct cpl_linked_groups *g =
	        &((struct cpl_packets *)sim->own)->groups;
	int a = cpl_groups_group(g, router), b = cpl_groups_group(g, to);
	int low = a < b ? a : b, high = a < b ? b : a;
	int i = cut(&x, g->n - 2), at = router;
	int64_t leg[2];

	i += i >= low;
	i += i >= high;
	leg[0] = cpl_groups_pair(g, a, i) * g->links + cut(&x, g->links);
	leg[1] = cpl_groups_pair(g, i, b) * g->links + cut(&x, g->links);
	for (int l = 0; l < 2 && n >= 0; l++) {
		int link = (int)(g->first + leg[l]);

		n = inside_group(sim, packet, n, at, sim->net->link_from[link],
		                 x);
		if (n < 0 || !put_link(sim, packet, n++, link))
			return -1;
		at = sim->net->link_to[link];
	}
	return n < 0 ? -1 : inside_group(sim, packet, n, at, to, x);
}

/* Progressive adaptive among groups (routing/progressive): minimal, or over
 * another group where more waits at the minimal path's first link than weight
 * times what waits at the other's, and the threshold. */
static bool choose_group(struct cpl_simulation *sim, int packet, int router)
{
	struct cpl_packets *p = sim->own;
	struct cpl_packet *it = &p->packet[packet];
	const struct cpl_linked_groups *g = &p->groups;
	double unit = sim->options->packet;
	int first = it->hop, source = router, hops, minimal, other;

	if (first)
		source = sim->net->link_from[p->path[(int64_t)packet *
		                                     p->stride]];
	else
		it->hops = draw_path(sim, packet, 0, source, it->to,
		                     cpl_packet_draw(p, it, 0));
	if (it->hops <= first || g->n < 3 ||
	    cpl_groups_group(g, router) == cpl_groups_group(g, it->to))
		return it->hops >= 0;
	minimal = p->link[p->path[(int64_t)packet * p->stride + first]].load;
	if (!minimal)
		return true;
	hops = draw_group(sim, packet, first, router, it->to,
	                  cpl_packet_draw(p, it, 4 * first + 1));
	if (hops < 0)
		return false;
	other = p->link[p->path[(int64_t)packet * p->stride + first]].load;
	if (minimal * unit > sim->net->detour_weight * other * unit +
	                             sim->net->detour_threshold) {
		it->hops = hops;
		it->leg++;
		return true;
	}
	/* It stays on its path. */
	return draw_path(sim, packet, 0, source, it->to,
	                 cpl_packet_draw(p, it, 0)) >= 0;
}

/* Chooses a path from the packet's router, after the links behind it. */
static bool choose(struct cpl_simulation *sim, int packet, int router)
{
	struct cpl_packets *p = sim->own;
	struct cpl_packet *it = &p->packet[packet];
	const struct cpl_sim_routing *c = p->choice;
	int first = it->hop, direct = -1, hops, via;
	double least = 0;

	if (p->groups.n)
		return choose_group(sim, packet, router);
	if (c->direct || router == it->to) {
		direct = draw_path(sim, packet, first, router, it->to,
		                   cpl_packet_draw(p, it, 4 * first));
		if (direct < 0)
			return false;
		least = cost(p, packet, first, direct);
		it->hops = direct;
	}
	via = c->indirect && router != it->to
	              ? draw_via(sim, router, it->to,
	                         cpl_packet_draw(p, it, 4 * first + 1))
	              : -1;
	/* No queue is shorter than an empty one. */
	if (direct >= 0 && (via < 0 || !(least > 0)))
		return true;
	if (via < 0)
		via = it->to;
	hops = draw_path(sim, packet, first, router, via,
	                 cpl_packet_draw(p, it, 4 * first + 2));
	if (hops >= 0)
		hops = draw_path(sim, packet, hops, via, it->to,
		                 cpl_packet_draw(p, it, 4 * first + 3));
	if (hops < 0)
		return false;
	if (direct < 0 || cost(p, packet, first, hops) < least) {
		it->hops = hops;
		it->via = via == it->to ? -1 : via;
		it->leg++;
		return true;
	}
	direct = draw_path(sim, packet, first, router, it->to,
	                   cpl_packet_draw(p, it, 4 * first));
	return direct >= 0;
}

/* Is a packet that goes directly to be looked at again? */
static bool looks_again(const struct cpl_packets *p,
                        const struct cpl_network *net,
                        const struct cpl_packet *it, int router)
{
	int from;

	if (!p->choice->again || !it->hop || it->leg || router == it->to)
		return false;
	from = net->link_from[p->path[(int64_t)(it - p->packet) * p->stride]];
	if (p->groups.n)
		return cpl_groups_group(&p->groups, router) ==
		       cpl_groups_group(&p->groups, from);
	if (router >= net->n_node_routers)
		return false;
	return p->group ? cpl_level_unit(p->group, router) ==
	                          cpl_level_unit(p->group, from)
	                : it->hop == 1;
}

/* Chooses a link on a product: one that leads nearer and has a free buffer, or
 * the one that no circle can block. */
static void next_of_product(struct cpl_simulation *sim, struct cpl_packet *it,
                            int router, int64_t *link, int *channel,
                            bool *reserved)
{
	const struct cpl_product *torus = &sim->net->product;
	struct cpl_packets *p = sim->own;
	int lane = channel_in_class(p, it);
	int64_t escape = -1, best = -1;

	for (int d = 0; d < torus->n_dims; d++) {
		int at = coordinate(torus, d, router), n = torus->dim[d];
		int goal = coordinate(torus, d, it->to);
		int go = cpl_dimension_steps(torus, d, at, goal);
		bool tie = torus->wrap[d] && 2 * abs(go) == n;

		for (int minus = 0; minus < 2 && go; minus++) {
			int64_t l =
			        torus->out[((int64_t)router * torus->n_dims +
			                    d) * 2 +
			                   minus];

			if (l < 0 || (minus != (go < 0) && !tie))
				continue;
			if (escape < 0 && minus == (go < 0))
				escape = l;
			if (p->queue[l * p->channels + 2 * p->lanes + lane]
			                    .credit > 0 &&
			    (best < 0 || p->link[l].load < p->link[best].load))
				best = l;
		}
	}
	*reserved = best >= 0;
	*link = best >= 0 ? best : escape;
	*channel = (best >= 0 ? 2 : dateline(p, sim->net, escape, it->to)) *
	                   p->lanes +
	           lane;
}

/* Chooses a link elsewhere; all of them lead nearer. */
static int64_t next_of_shares(struct cpl_simulation *sim, struct cpl_packet *it,
                              int router)
{
	const struct cpl_network *net = sim->net;
	struct cpl_packets *p = sim->own;
	int from = it->via, n;
	const struct cpl_share *share;
	int64_t best = -1;

	share = cpl_route_find_routers(&p->finder, from, it->to, &n);
	for (int i = 0; i < n; i++) {
		int l = share[i].link;

		if (net->link_from[l] == router && share[i].part > 0 &&
		    (best < 0 || p->link[l].load < p->link[best].load))
			best = l;
	}
	return best;
}

bool cpl_packet_next(struct cpl_simulation *sim, int packet, int router,
                     int64_t *link, int *channel, bool *reserved)
{
	struct cpl_packets *p = sim->own;
	struct cpl_packet *it = &p->packet[packet];
	int class;

	*link = -1;
	*channel = 0;
	*reserved = false;
	if (router == it->to && (p->choice->hop_by_hop || it->hop == it->hops))
		return true;
	if (p->rule == CPL_CHANNEL_ESCAPE) {
		next_of_product(sim, it, router, link, channel, reserved);
		it->hop++;
		return true;
	}
	if (p->choice->hop_by_hop) {
		/* Its first router stands for the one to go by. */
		if (!it->hop)
			it->via = router;
		*link = next_of_shares(sim, it, router);
		if (*link < 0)
			return fail_path(sim);
	} else {
		if (!it->hop || looks_again(p, sim->net, it, router)) {
			if (!choose(sim, packet, router))
				return false;
			it = &p->packet[packet];
			if (it->hop == it->hops)
				return true;
		}
		if (it->via == router) {
			it->via = -1;
			it->leg++;
		}
		*link = p->path[(int64_t)packet * p->stride + it->hop];
	}
	class = it->hop++;
	if (p->rule == CPL_CHANNEL_DATELINE)
		class = 2 * it->leg + dateline(p, sim->net, *link, goal_of(it));
	if (class >= p->classes &&
	    !cpl_packets_widen(sim, p->stride, 2 * class))
		return false;
	it = &p->packet[packet];
	*channel = class * p->lanes + channel_in_class(p, it);
	return true;
}
