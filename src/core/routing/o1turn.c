/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/dimensions.h"

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	for (int back = 0; back < 2; back++)
		cpl_follow_dimensions(net, from, to, back, bytes / 2, load, NULL,
		                      NULL);
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	int n = cpl_follow_dimensions(net, from, to, false, 0.5, NULL, share,
	                              NULL);

	return n + cpl_follow_dimensions(net, from, to, true, 0.5, NULL,
	                                 share + n, NULL);
}

static int64_t again(const struct cpl_network *net)
{
	return net->n_links;
}

const struct cpl_routing cpl_routing_o1turn = {
        .name = "o1turn",
        .flags = CPL_ROUTING_SAMPLED | CPL_NETWORK_PRODUCT,
        .summary = "half in order of dimensions, half in the reverse order",
        .add = add_flow,
        .links = links,
        .again = again,
        .hops = cpl_dimension_hops,
};
