/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

#include "graph/members.h"

int64_t cpl_route_max(const struct cpl_network *net,
                      const struct cpl_routing *routing)
{
	return net->n_links + 1 + (routing->again ? routing->again(net) : 0);
}

double cpl_station_hops(const struct cpl_network *net,
                        const struct cpl_routing *routing, int from, int to)
{
	double hops = 0;

	if (!net->station_of)
		return routing->hops(net, from, to);
	if (cpl_network_stations_joined(net, from, to))
		return 0;
	for (int p = 0; p < net->n_ports; p++)
		for (int q = 0; q < net->n_ports && from != to; q++) {
			double part = cpl_network_port_fraction(net, p, q);

			if (part > 0)
				hops += part *
				        routing->hops(
				                net,
				                cpl_network_station_router(
				                        net, from, p),
				                cpl_network_station_router(
				                        net, to, q));
		}
	return hops;
}

/* Counts the pairs of ports between which bytes go. */
static int64_t port_pairs(const struct cpl_network *net)
{
	int64_t n = 0;

	for (int p = 0; p < net->n_ports; p++)
		for (int q = 0; q < net->n_ports; q++)
			n += cpl_network_port_fraction(net, p, q) > 0;
	return n;
}

int cpl_route_finder_init(struct cpl_route_finder *finder,
                          const struct cpl_network *net,
                          const struct cpl_routing *routing,
                          struct cpl_error *err)
{
	struct cpl_route_finder f = {.net = net, .routing = routing};

	f.share = cpl_arena_take_raw(&f.arena,
	                             cpl_route_max(net, routing) *
	                                     port_pairs(net),
	                             sizeof(*f.share));
	if (!routing->links) {
		f.out_first = cpl_arena_take(&f.arena, net->n_routers + 2,
		                             sizeof(*f.out_first));
		f.out = cpl_arena_take_raw(&f.arena, net->n_links,
		                           sizeof(*f.out));
		f.scratch = cpl_arena_take(&f.arena, net->n_links,
		                           sizeof(*f.scratch));
	}
	if (f.arena.failed)
		return cpl_arena_end(&f.arena, -1, err);
	if (!routing->links)
		cpl_members_list(net->link_from, (int)net->n_links,
		                 net->n_routers, f.out_first, f.out);
	*finder = f;
	return 0;
}

void cpl_route_finder_free(struct cpl_route_finder *f)
{
	cpl_arena_free(&f->arena);
	*f = (struct cpl_route_finder){0};
}

/* A flow is connected, so following loaded links finds all of its links. */
static int follow_flow(struct cpl_route_finder *f, int from, int to,
                       struct cpl_share *share)
{
	int n = 0, router = from;

	f->routing->add(f->net, from, to, 1, f->scratch);
	for (int head = -1; head < n; head++) {
		if (head >= 0)
			router = f->net->link_to[share[head].link];
		for (int i = f->out_first[router]; i < f->out_first[router + 1];
		     i++) {
			int link = f->out[i];

			if (!(f->scratch[link] > 0))
				continue;
			share[n].link = link;
			share[n++].part = f->scratch[link];
			f->scratch[link] = 0;
		}
	}
	return n;
}

/* Lists the links between two routers and returns their number. */
static int find(struct cpl_route_finder *f, int from, int to,
                struct cpl_share *share)
{
	if (from == to)
		return 0;
	return f->routing->links ? f->routing->links(f->net, from, to, share)
	                         : follow_flow(f, from, to, share);
}

const struct cpl_share *cpl_route_find_routers(struct cpl_route_finder *f,
                                               int from, int to, int *n)
{
	*n = find(f, from, to, f->share);
	return f->share;
}

const struct cpl_share *cpl_route_find(struct cpl_route_finder *f, int from,
                                       int to, int *n)
{
	const struct cpl_network *net = f->net;

	*n = 0;
	if (from == to || cpl_network_stations_joined(net, from, to))
		return f->share;
	if (!net->station_of) {
		*n = find(f, from, to, f->share);
		return f->share;
	}
	for (int p = 0; p < net->n_ports; p++)
		for (int q = 0; q < net->n_ports; q++) {
			double part = cpl_network_port_fraction(net, p, q);
			int first = *n;

			if (!(part > 0))
				continue;
			*n += find(f, cpl_network_station_router(net, from, p),
			           cpl_network_station_router(net, to, q),
			           f->share + first);
			for (int i = first; i < *n; i++)
				f->share[i].part *= part;
		}
	return f->share;
}
