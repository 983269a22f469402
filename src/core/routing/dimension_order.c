/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/dimensions.h"

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	cpl_follow_dimensions(net, from, to, false, bytes, load, NULL, NULL);
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	return cpl_follow_dimensions(net, from, to, false, 1, NULL, share, NULL);
}

static int put_flow(const struct cpl_network *net, int from, int to,
                    double bytes, const struct cpl_put_on *sums)
{
	return cpl_follow_dimensions(net, from, to, false, bytes, sums->bytes,
	                             NULL, sums);
}

const struct cpl_routing cpl_routing_dimension_order = {
        .name = "dimension-order",
        .short_name = "DO",
        .flags = CPL_NETWORK_PRODUCT,
        .summary = "dimension 0 first, the shorter way round, ties to +",
        .add = add_flow,
        .links = links,
        .put = put_flow,
        .hops = cpl_dimension_hops,
};
