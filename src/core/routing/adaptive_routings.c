/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "routing/adaptive/adaptive.h"
#include "routing/dragonfly_paths.h"

static void solve_one(const struct cpl_network *net,
                      const struct cpl_pairs *pairs, void *scratch,
                      double *load, struct cpl_routed *routed,
                      const struct cpl_routing *routing)
{
	struct cpl_adaptive_job job = {.pairs = pairs, .routing = routing};
	struct cpl_adaptive a = {
	        .net = net, .job = &job, .n_jobs = 1, .load = load};

	cpl_adaptive_solve_in(&a, scratch);
	routed->hop_bytes += job.routed.hop_bytes;
	routed->max_hops = fmax(routed->max_hops, job.routed.max_hops);
}

static void solve_direct(const struct cpl_network *net,
                         const struct cpl_pairs *pairs, void *scratch,
                         double *load, struct cpl_routed *routed)
{
	solve_one(net, pairs, scratch, load, routed,
	          &cpl_routing_adaptive_direct);
}

static void solve_indirect(const struct cpl_network *net,
                           const struct cpl_pairs *pairs, void *scratch,
                           double *load, struct cpl_routed *routed)
{
	solve_one(net, pairs, scratch, load, routed,
	          &cpl_routing_adaptive_indirect);
}

static void solve_hybrid(const struct cpl_network *net,
                         const struct cpl_pairs *pairs, void *scratch,
                         double *load, struct cpl_routed *routed)
{
	solve_one(net, pairs, scratch, load, routed,
	          &cpl_routing_adaptive_hybrid);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_static_direct.hops(net, from, to);
}

const struct cpl_routing cpl_routing_adaptive_direct = {
        .name = "adaptive-direct",
        .short_name = "AD",
        .type = &cpl_network_dragonfly,
        .summary = "over the minimal paths, by the bandwidth left on them",
        .solve = solve_direct,
        .scratch_size = cpl_adaptive_scratch_size,
        .hops = hops,
};

const struct cpl_routing cpl_routing_adaptive_indirect = {
        .name = "adaptive-indirect",
        .short_name = "AI",
        .type = &cpl_network_dragonfly,
        .summary = "over drawn intermediate routers, by the bandwidth left",
        .solve = solve_indirect,
        .scratch_size = cpl_adaptive_scratch_size,
        .hops = hops,
};

const struct cpl_routing cpl_routing_adaptive_hybrid = {
        .name = "adaptive-hybrid",
        .short_name = "AH",
        .type = &cpl_network_dragonfly,
        .summary = "over two minimal and two indirect paths (UGAL-G)",
        .solve = solve_hybrid,
        .scratch_size = cpl_adaptive_scratch_size,
        .hops = hops,
};
