/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routings: how the bytes of a router pair are spread over links. One file per
 * routing, one line in the table of routing.c.
 */
#ifndef CPL_ROUTING_ROUTING_H
#define CPL_ROUTING_ROUTING_H

#include "network/network.h"

struct cpl_routing {
	const char *name;       /* "static-direct" */
	const char *short_name; /* "SD" */
	enum cpl_network_type type; /* networks it is for */
	const char *summary;    /* one line for --help */
	/*
	 * Add `bytes` from router `from` to router `to` to load[link id], the
	 * expectation over the routing's paths. from == to adds nothing. No
	 * allocation. O(paths * hops).
	 */
	void (*add)(const struct cpl_network *net, int from, int to,
		    double bytes, double *load);
	/* Expected number of router-to-router links on the way. */
	double (*hops)(const struct cpl_network *net, int from, int to);
};

/*
 * Routing by long or short name (case-insensitive) for this network; name NULL
 * takes the network's stated routing, or the minimal one of its type where
 * none is stated. NULL with err, which lists the names that would be right.
 */
const struct cpl_routing *cpl_routing_find(const struct cpl_network *net,
					   const char *name,
					   struct cpl_error *err);

/* The table, NULL-terminated: for listings. */
const struct cpl_routing *const *cpl_routing_all(void);

/* static-direct: evenly over all minimal paths (at most one global link, the
 * fewest hops among those). Jain 2016, 3.2.2. At most 4K paths of 5 hops. */
extern const struct cpl_routing cpl_routing_static_direct;
/* dimension-order: dimension 0 first, the shorter way round, ties to +. */
extern const struct cpl_routing cpl_routing_dimension_order;

#endif
