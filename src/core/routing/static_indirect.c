/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "routing/many_links.h"
#include "routing/one_link.h"
#include "routing/routing_internal.h"

/* What cancels to less than this part of its terms is 0. */
#define CANCELLED 1e-11

struct work {
	double *plus, *minus; /* [links] */
	double *weight[2];    /* [routers] bytes sent, received */
	double *hops;         /* [routers] to, or from, all others */
	double *by_group[2];  /* [groups] sums of weight */
	double *count;        /* [routers per group] */
	double *legs;         /* scratch of one_link.h or many_links.h */
};

static bool one_link(const struct cpl_network *net)
{
	return net->dragonfly.global_per_pair == 1;
}

static size_t scratch_size(const struct cpl_network *net, int64_t pairs)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	size_t legs = one_link(net) ? cpl_one_link_scratch(net) * sizeof(double)
	                            : cpl_many_links_scratch(net);

	(void)pairs;
	return sizeof(double) *
	               (2 * (size_t)net->n_links + 3 * (size_t)net->n_routers +
	                (size_t)df->routers_per_group +
	                2 * (size_t)df->groups) +
	       legs;
}

static double *take(double **at, int64_t n)
{
	double *p = *at;

	*at += n;
	return p;
}

static void divide(struct work *w, const struct cpl_network *net, void *scratch)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	double *at = scratch;

	w->plus = take(&at, net->n_links);
	w->minus = take(&at, net->n_links);
	w->weight[0] = take(&at, net->n_routers);
	w->weight[1] = take(&at, net->n_routers);
	w->hops = take(&at, net->n_routers);
	memset(scratch, 0, (size_t)((char *)at - (char *)scratch));
	w->by_group[0] = take(&at, df->groups);
	w->by_group[1] = take(&at, df->groups);
	w->count = take(&at, df->routers_per_group);
	w->legs = at;
}

static void legs_by_groups(const struct cpl_network *net, struct work *w)
{
	int groups = net->dragonfly.groups;
	int size = net->dragonfly.routers_per_group;

	for (int back = 0; back < 2; back++)
		for (int group = 0; group < groups; group++) {
			const double *weight =
			        w->weight[back] + (int64_t)group * size;

			w->by_group[back][group] = 0;
			for (int i = 0; i < size; i++)
				w->by_group[back][group] += weight[i];
		}
	for (int group = 0; group < groups; group++)
		cpl_one_link_legs(net, group, w->weight[0], w->weight[1],
		                  w->by_group[0], w->by_group[1], w->legs,
		                  w->plus);
	cpl_one_link_hops(net, w->count, w->hops);
}

static void solve(const struct cpl_network *net, const struct cpl_pairs *pairs,
                  void *scratch, double *load, struct cpl_routed *routed)
{
	const struct cpl_routing *direct = &cpl_routing_static_direct;
	double others = net->n_routers - 2;
	struct work w;

	divide(&w, net, scratch);
	for (int i = 0; i < pairs->n_from; i++)
		for (int64_t e = pairs->row[i]; e < pairs->row[i + 1]; e++) {
			w.weight[0][pairs->from[i]] += pairs->bytes[e];
			w.weight[1][pairs->to[e]] += pairs->bytes[e];
			direct->add(net, pairs->from[i], pairs->to[e],
			            pairs->bytes[e], w.minus);
		}
	if (others > 0 && one_link(net))
		legs_by_groups(net, &w);
	else if (others > 0)
		cpl_many_links_legs(net, w.weight[0], w.weight[1], w.legs,
		                    w.plus, w.hops);
	for (int64_t l = 0; l < net->n_links; l++) {
		double bytes = w.minus[l];

		if (others > 0)
			bytes = (w.plus[l] - 2 * w.minus[l]) / others;
		if (others > 0 && bytes * others < CANCELLED * w.plus[l])
			continue;
		load[l] += bytes;
		routed->hop_bytes += bytes;
	}
	for (int i = 0; i < pairs->n_from; i++)
		for (int64_t e = pairs->row[i]; e < pairs->row[i + 1]; e++) {
			int from = pairs->from[i], to = pairs->to[e];
			double hops = direct->hops(net, from, to);

			if (others > 0)
				hops = (w.hops[from] + w.hops[to] - 2 * hops) /
				       others;
			if (hops > routed->max_hops)
				routed->max_hops = hops;
		}
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_static_direct.hops(net, from, to);
}

const struct cpl_routing cpl_routing_static_indirect = {
        .name = "static-indirect",
        .short_name = "SI",
        .type = CPL_NETWORK_DRAGONFLY,
        .summary = "evenly over all intermediate routers, in expectation",
        .solve = solve,
        .scratch_size = scratch_size,
        .hops = hops,
};
