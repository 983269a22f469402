/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "routing/legs.h"
#include "routing/dragonfly_paths.h"
#include "routing/static_indirect.h"

/* A difference below this share of its terms is 0. */
#define CANCELLED 1e-11

static bool one_link(const struct cpl_network *net)
{
	return cpl_dragonfly_of(net)->global_per_pair == 1;
}

size_t cpl_indirect_size(const struct cpl_network *net)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	size_t legs = one_link(net) ? cpl_one_link_scratch(net) * sizeof(double)
	                            : cpl_many_links_scratch(net);

	return sizeof(double) *
	               (2 * (size_t)net->n_links + 3 * (size_t)net->n_routers +
	                (size_t)df->routers_per_group +
	                2 * (size_t)df->groups) +
	       legs;
}

static double *take_numbers(double **at, int64_t n)
{
	double *p = *at;

	*at += n;
	return p;
}

void cpl_indirect_start(struct cpl_indirect *in, const struct cpl_network *net,
                        bool direct_only, void *scratch)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	double *at = scratch;

	*in = (struct cpl_indirect){.net = net, .others = net->n_routers - 2};
	in->direct = take_numbers(&at, net->n_links);
	in->weight[0] = take_numbers(&at, net->n_routers);
	in->weight[1] = take_numbers(&at, net->n_routers);
	in->hops = take_numbers(&at, net->n_routers);
	memset(scratch, 0, (size_t)((char *)at - (char *)scratch));
	in->plus = take_numbers(&at, net->n_links);
	in->by_group[0] = take_numbers(&at, df->groups);
	in->by_group[1] = take_numbers(&at, df->groups);
	in->count = take_numbers(&at, df->routers_per_group);
	in->legs = at;
	if (direct_only)
		in->others = 0;
	else if (one_link(net))
		cpl_one_link_hops(net, in->count, in->hops);
	else
		cpl_many_links_hops(net, in->legs, in->hops);
}

void cpl_indirect_flow(struct cpl_indirect *in, int from, int to, double bytes)
{
	int direct = cpl_direct_add(in->net, from, to, bytes, in->direct);
	double hops = direct;

	in->weight[0][from] += bytes;
	in->weight[1][to] += bytes;
	in->direct_hop_bytes += bytes * direct;
	if (direct > in->max_direct_hops)
		in->max_direct_hops = direct;
	if (in->others > 0)
		hops = (in->hops[from] + in->hops[to] - 2.0 * direct) /
		       in->others;
	if (hops > in->max_hops)
		in->max_hops = hops;
}

static void legs_by_groups(struct cpl_indirect *in)
{
	int groups = cpl_dragonfly_of(in->net)->groups;
	int size = cpl_dragonfly_of(in->net)->routers_per_group;

	for (int back = 0; back < 2; back++)
		for (int group = 0; group < groups; group++) {
			const double *weight =
			        in->weight[back] + (int64_t)group * size;

			in->by_group[back][group] = 0;
			for (int i = 0; i < size; i++)
				in->by_group[back][group] += weight[i];
		}
	for (int group = 0; group < groups; group++)
		cpl_one_link_legs(in->net, group, in->weight[0], in->weight[1],
		                  in->by_group[0], in->by_group[1], in->legs,
		                  in->plus);
}

void cpl_indirect_finish(struct cpl_indirect *in, double *load,
                         struct cpl_routed *routed)
{
	double others = in->others;

	memset(in->plus, 0, (size_t)in->net->n_links * sizeof(*in->plus));
	if (others > 0 && one_link(in->net))
		legs_by_groups(in);
	else if (others > 0)
		cpl_many_links_legs(in->net, in->weight[0], in->weight[1],
		                    in->legs, in->plus);
	for (int64_t l = 0; l < in->net->n_links; l++) {
		double bytes = in->direct[l];

		if (others > 0)
			bytes = (in->plus[l] - 2 * in->direct[l]) / others;
		if (others > 0 && bytes * others < CANCELLED * in->plus[l])
			continue;
		load[l] += bytes;
		routed->hop_bytes += bytes;
	}
	if (in->max_hops > routed->max_hops)
		routed->max_hops = in->max_hops;
}

static void solve(const struct cpl_network *net, const struct cpl_flows *flows,
                  void *scratch, double *load, struct cpl_routed *routed)
{
	struct cpl_indirect in;

	cpl_indirect_start(&in, net, false, scratch);
	for (int i = 0; i < flows->n_from; i++)
		for (int64_t e = flows->row[i]; e < flows->row[i + 1]; e++)
			cpl_indirect_flow(&in, flows->from[i], flows->to[e],
			                  flows->bytes[e]);
	cpl_indirect_finish(&in, load, routed);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_static_direct.hops(net, from, to);
}

const struct cpl_routing cpl_routing_static_indirect = {
        .name = "static-indirect",
        .short_name = "SI",
        .type = &cpl_network_dragonfly,
        .summary = "evenly over all intermediate routers, in expectation",
        .solve = solve,
        .scratch_size = cpl_indirect_size,
        .hops = hops,
};
