/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The legs of static-indirect on dragonflies with several links per pair of
 * groups. Routers of a group that are equally far from each of its gateways to
 * another group divide their bytes over the links alike, so pairs of such
 * classes are enough, each once for both directions.
 */
#ifndef CPL_ROUTING_MANY_LINKS_H
#define CPL_ROUTING_MANY_LINKS_H

#include "network/network.h"

/* Bytes of scratch of either, a multiple of 8. */
size_t cpl_many_links_scratch(const struct cpl_network *net);

/*
 * hops[router]: links of its direct ways to all others together, which is also
 * the sum of the ways back. O(groups^2 * (classes^2 + routers per group *
 * log)).
 */
void cpl_many_links_hops(const struct cpl_network *net, void *scratch,
                         double *hops);

/*
 * Every router r of the machine sends sent[r] bytes to each other router and
 * gets received[r] from each, directly. Adds the bytes to load[link id].
 * O(groups^2 * (classes^2 * links on the shortest ways + routers per group *
 * (K + log)) + routers * routers per group).
 */
void cpl_many_links_legs(const struct cpl_network *net, const double *sent,
                         const double *received, void *scratch, double *load);

#endif
