/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link ids of a HAEC Box (Sharunov 2016, 2.1): `boards` boards in a line, each
 * a 2-D torus of x * y routers; every router has a wireless link to every
 * router of the adjacent boards. Router id = i + x * (j + y * board). Class
 * "optical": on a board; "wireless": between boards.
 */
#pragma once

#include "network/network.h"

extern const struct cpl_network_type cpl_network_haec;

struct cpl_haec {
	int x, y, boards;
};

static inline const struct cpl_haec *cpl_haec_of(const struct cpl_network *net)
{
	return (const void *)net->own;
}

enum { CPL_HAEC_OPTICAL, CPL_HAEC_WIRELESS };

/* Link from router one step along x (d = 0) or y (d = 1), whose length is
 * above 1. */
static inline int64_t cpl_haec_optical(const struct cpl_network *net,
                                       int router, int d, int minus)
{
	int x = cpl_haec_of(net)->x > 1, y = cpl_haec_of(net)->y > 1;

	return (int64_t)router * 2 * (x + y) + (d && x ? 2 : 0) + minus;
}

/* Link from router to number `to` (below x * y) of the board above, or
 * below. */
static inline int64_t cpl_haec_wireless(const struct cpl_network *net,
                                        int router, int to, int down)
{
	int64_t places = (int64_t)cpl_haec_of(net)->x * cpl_haec_of(net)->y;
	int64_t up_links = (cpl_haec_of(net)->boards - 1) * places * places;

	return net->link_class[CPL_HAEC_WIRELESS].first +
	       (down ? up_links - places * places : 0) + router * places + to;
}
