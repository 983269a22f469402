/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The legs of static-indirect on a dragonfly: every router r of the machine
 * sends sent[r] bytes to each other router and gets received[r] from each,
 * directly.
 *
 * With one link per pair of groups (one_link.c) a path to another group is
 * known from the groups alone, so that sums over all routers have closed forms.
 * With several (many_links.c) routers of a group that are equally far from each
 * of its gateways to another group divide their bytes over the links alike, so
 * that pairs of such classes are enough, each once for both directions.
 */
#pragma once

#include "network/dragonfly/dragonfly.h"

/* Sets hops[router] to the links of its direct paths to all others together,
 * which is also the sum of the paths back. The first is for one link, with
 * scratch[routers per group], in O(groups^2 + routers * routers per group); the
 * second for several, with scratch of cpl_many_links_scratch, in O(groups^2 *
 * (classes^2 + routers per group * log)). */
void cpl_one_link_hops(const struct cpl_network *net, double *scratch,
                       double *hops);
void cpl_many_links_hops(const struct cpl_network *net, void *scratch,
                         double *hops);

/* The numbers of scratch that cpl_one_link_legs needs. */
static inline size_t cpl_one_link_scratch(const struct cpl_network *net)
{
	size_t size = (size_t)cpl_dragonfly_of(net)->routers_per_group;

	return size * (size + 3);
}

/* Adds the bytes of the links that start in `group` to load[]; sent_by[] and
 * received_by[] are the sums over each group's routers. O(groups + routers per
 * group^2). */
void cpl_one_link_legs(const struct cpl_network *net, int group,
                       const double *sent, const double *received,
                       const double *sent_by, const double *received_by,
                       double *scratch, double *load);

/* The bytes of scratch, a multiple of 8. */
size_t cpl_many_links_scratch(const struct cpl_network *net);

/* Adds the bytes to load[link id]. O(groups^2 * (classes^2 * links on the
 * shortest paths + routers per group * (K + log)) + routers * routers per
 * group). */
void cpl_many_links_legs(const struct cpl_network *net, const double *sent,
                         const double *received, void *scratch, double *load);

/* Adds local[a * routers per group + b], the bytes from the group's router a to
 * its router b, to load[], evenly over the shortest paths. It does not read the
 * diagonal. O(routers per group^2). */
void cpl_local_spread(const struct cpl_network *net, int group,
                      const double *local, double *load);
