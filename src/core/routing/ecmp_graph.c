/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "routing/routing.h"

struct path_search {
	const struct cpl_network *net;
	int *first, *out; /* links by the router they leave: [n_routers + 1] */
	int *order;       /* [n_routers] in the order they were reached */
	int *hops;        /* [n_routers], -1: not reached */
	double *paths;    /* [n_routers] from the start of the search */
	double *bytes;    /* [n_routers] to it and through it */
};

static size_t scratch_size(const struct cpl_network *net)
{
	size_t n = (size_t)net->n_routers + 1;

	return 2 * n * sizeof(double) +
	       (3 * n + (size_t)net->n_links) * sizeof(int);
}

static struct path_search open_search(const struct cpl_network *net,
                                      void *scratch)
{
	size_t n = (size_t)net->n_routers + 1;
	struct path_search s = {.net = net};

	s.paths = scratch;
	s.bytes = s.paths + n;
	s.order = (int *)(s.bytes + n);
	s.hops = s.order + n;
	s.first = s.hops + n;
	s.out = s.first + n;
	memset(s.first, 0, n * sizeof(*s.first));
	for (int64_t l = 0; l < net->n_links; l++)
		s.first[net->link_from[l]]++;
	for (int r = 1; r < (int)n; r++)
		s.first[r] += s.first[r - 1];
	for (int64_t l = net->n_links - 1; l >= 0; l--)
		s.out[--s.first[net->link_from[l]]] = (int)l;
	return s;
}

/* Orders routers by hops from `from` and returns how many are reached. */
static int reach(struct path_search *s, int from)
{
	int n = 0;

	for (int r = 0; r < s->net->n_routers; r++) {
		s->hops[r] = -1;
		s->paths[r] = s->bytes[r] = 0;
	}
	s->hops[from] = 0;
	s->paths[from] = 1;
	s->order[n++] = from;
	for (int done = 0; done < n; done++) {
		int at = s->order[done];

		for (int i = s->first[at]; i < s->first[at + 1]; i++) {
			int next = s->net->link_to[s->out[i]];

			if (s->hops[next] < 0) {
				s->hops[next] = s->hops[at] + 1;
				s->order[n++] = next;
			}
			if (s->hops[next] == s->hops[at] + 1)
				s->paths[next] += s->paths[at];
		}
	}
	return n;
}

/* Routers that are farther off have all their bytes already. */
static void put_router(struct path_search *s, int at, double *load)
{
	for (int i = s->first[at]; i < s->first[at + 1]; i++) {
		int link = s->out[i], next = s->net->link_to[link];
		double part;

		if (s->hops[next] != s->hops[at] + 1)
			continue;
		part = s->bytes[next] * (s->paths[at] / s->paths[next]);
		load[link] += part;
		s->bytes[at] += part;
	}
}

static void solve(const struct cpl_network *net, const struct cpl_flows *flows,
                  void *scratch, double *load, struct cpl_routed *routed)
{
	struct path_search s = open_search(net, scratch);

	for (int f = 0; f < flows->n_from; f++) {
		int n = reach(&s, flows->from[f]);

		for (int64_t i = flows->row[f]; i < flows->row[f + 1]; i++) {
			int hops = s.hops[flows->to[i]];

			s.bytes[flows->to[i]] = flows->bytes[i];
			routed->hop_bytes += flows->bytes[i] * hops;
			if (hops > routed->max_hops)
				routed->max_hops = hops;
		}
		while (n-- > 0)
			put_router(&s, s.order[n], load);
	}
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_shortest_path.hops(net, from, to);
}

const struct cpl_routing cpl_routing_ecmp_graph = {
        .name = "ecmp",
        .short_name = "ECMP",
        .flags = CPL_NETWORK_NEXT_LINKS,
        .summary = "evenly over all paths of fewest hops",
        .solve = solve,
        .scratch_size = scratch_size,
        .hops = hops,
};
