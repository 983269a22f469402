/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fat trees: the parallel-port generalised fat tree PGFT(h; m; w; p) of Zahavi
 * 2012 with the leaf switches as level 0, of which the first n may be there.
 * Level l + 1 joins down[l] subtrees of level l; a switch of level l has up[l]
 * parents and ports[l] links to each.
 *
 * A switch is (level, subtree, replica). Its parents are the replicas
 * replica * up[l] .. + up[l] - 1 of subtree / down[l]. Class "upN" ("downN")
 * holds the links from level N - 1 to N (and back); link (switch, parent,
 * port) is number (switch * up + parent) * ports + port of both, the switch
 * being numbered within its level. O(1) each.
 */
#ifndef CPL_NETWORK_FATTREE_H
#define CPL_NETWORK_FATTREE_H

#include "network/network.h"

/* Link up from switch `index` of level l, or the same cable down to it. */
static inline int64_t cpl_fattree_link(const struct cpl_network *net, int l,
                                       int index, int parent, int port,
                                       int down)
{
	const struct cpl_fattree *tree = &net->fattree;

	return net->link_class[2 * l + down].first +
	       ((int64_t)index * tree->up[l] + parent) * tree->ports[l] + port;
}

#endif
