/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PGFT(h; m; w; p) of Zahavi 2012 with the leaf switches as level 0, of which
 * the first n may be there. Level l + 1 joins down[l] subtrees of level l; a
 * switch of level l has up[l] parents and ports[l] links to each.
 *
 * A switch is (level, subtree, replica). Its parents are the replicas
 * replica * up[l] .. + up[l] - 1 of subtree / down[l]. Class "upN" ("downN")
 * holds the links from level N - 1 to N (and back); link (switch, parent,
 * port) is number (switch * up + parent) * ports + port of both, the switch
 * being numbered within its level. O(1) each.
 */
#pragma once

#include "network/network.h"

extern const struct cpl_network_type cpl_network_fattree;

/* Index l: between the switches of level l and l + 1, leaves being level 0. */
struct cpl_fattree {
	int n_levels; /* above the leaves */
	int down[CPL_NETWORK_MAX_LEVELS], up[CPL_NETWORK_MAX_LEVELS];
	int ports[CPL_NETWORK_MAX_LEVELS];
	/* Switches of a level: subtrees x replicas; level l has subtrees[l] *
	 * replicas[l], router id first[l] + replica * subtrees[l] + subtree. */
	int subtrees[CPL_NETWORK_MAX_LEVELS + 1];
	int replicas[CPL_NETWORK_MAX_LEVELS + 1];
	int first[CPL_NETWORK_MAX_LEVELS + 1];
};

static inline const struct cpl_fattree *
cpl_fattree_of(const struct cpl_network *net)
{
	return (const void *)net->own;
}

/* Levels to climb until both leaves are below. */
static inline int cpl_fattree_climb(const struct cpl_fattree *tree, int from,
                                    int to)
{
	int levels = 0;

	for (; from != to; levels++) {
		from /= tree->down[levels];
		to /= tree->down[levels];
	}
	return levels;
}

/* Link up from switch `index` of level l, or the same cable down to it. */
static inline int64_t cpl_fattree_link(const struct cpl_network *net, int l,
                                       int index, int parent, int port,
                                       int down)
{
	const struct cpl_fattree *tree = cpl_fattree_of(net);

	return net->link_class[2 * l + down].first +
	       ((int64_t)index * tree->up[l] + parent) * tree->ports[l] + port;
}
