/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/type.h"
#include "routing/routing.h"

struct adding {
	double bytes, *load;
};

static void add_share(void *arg, struct cpl_share share)
{
	struct adding *a = arg;

	a->load[share.link] += a->bytes * share.part;
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	struct adding a = {bytes, load};

	if (from != to)
		net->type->spread(net, from, to, add_share, &a);
}

struct share_listing {
	struct cpl_share *share;
	int n;
};

static void list_share(void *arg, struct cpl_share share)
{
	struct share_listing *l = arg;

	l->share[l->n++] = share;
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	struct share_listing l = {share, 0};

	if (from != to)
		net->type->spread(net, from, to, list_share, &l);
	return l.n;
}

static int64_t again(const struct cpl_network *net)
{
	return net->type->spread_again ? net->type->spread_again(net) : 0;
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return net->type->distance(net, from, to);
}

const struct cpl_routing cpl_routing_ecmp = {
        .name = "ecmp",
        .short_name = "ECMP",
        .flags = CPL_NETWORK_SPREAD,
        .summary = "evenly over all paths of fewest hops",
        .add = add_flow,
        .links = links,
        .again = again,
        .hops = hops,
};
