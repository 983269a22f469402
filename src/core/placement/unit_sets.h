/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of nodes that are near each other, or far apart, by the units of a
 * network's levels (groups, chassis, switches), the routers last.
 */
#pragma once

#include "placement/placement.h"

/*
 * n of the nodes with free[node] != 0, of which there are so many, into out by
 * id: in the smallest unit that holds them, of these the one with the fewest
 * free nodes; else in as few units of each level as taking those with the most
 * free nodes first makes of it. Domains of accelerators on a router are filled
 * alike. On a torus the smallest box, and in its order.
 * On a graph those nearest to a router, the best router to begin at within a
 * fixed amount of work. 0, or -1
 * with err (memory). O(nodes + units^2), see blocked.c for boxes.
 */
int cpl_units_compact(const struct cpl_network *net, const unsigned char *free,
                      int n, int *out, struct cpl_error *err);

/* The same, evenly over the units of each level, as far as they have nodes:
 * those that get one more are evenly spaced. O(nodes). */
int cpl_units_spread(const struct cpl_network *net, const unsigned char *free,
                     int n, int *out, struct cpl_error *err);
