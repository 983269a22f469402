/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Minimal routing once more, from the written rules and by enumeration: for
 * comparison only. Of the network only its sizes are used, and its link arrays
 * to name the links.
 */
#pragma once

#include "network/network.h"

/*
 * Add bytes from router to router to load[link id] and return the hops. Small
 * networks only: the work grows with the paths of up to 5 links.
 */
int brute_add(const struct cpl_network *net, int from, int to, double bytes,
              double *load);
