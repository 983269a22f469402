/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/dragonfly/dragonfly.h"
#include "routing/routing.h"

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_static_direct.hops(net, from, to);
}

const struct cpl_routing cpl_routing_adaptive_direct = {
        .name = "adaptive-direct",
        .short_name = "AD",
        .type = &cpl_network_dragonfly,
        .flags = CPL_ROUTING_ADAPTIVE,
        .summary = "over the minimal paths, by the bandwidth left on them",
        .hops = hops,
};

const struct cpl_routing cpl_routing_adaptive_indirect = {
        .name = "adaptive-indirect",
        .short_name = "AI",
        .type = &cpl_network_dragonfly,
        .flags = CPL_ROUTING_ADAPTIVE,
        .summary = "over drawn intermediate routers, by the bandwidth left",
        .hops = hops,
};

const struct cpl_routing cpl_routing_adaptive_hybrid = {
        .name = "adaptive-hybrid",
        .short_name = "AH",
        .type = &cpl_network_dragonfly,
        .flags = CPL_ROUTING_ADAPTIVE,
        .summary = "over two minimal and two indirect paths (UGAL-G)",
        .hops = hops,
};
