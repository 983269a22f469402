/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a network costs: routers by their ports, cables by their lengths, which
 * follow from where routers stand. The prices that are built in are those of
 * Jain 2016, 6.3 (equations 6.1 to 6.3: routers and cables of 40 and 56 Gb/s, with
 * his factors for 100 Gb/s).
 *
 * Routers stand in cabinets in the order of their numbers, those with nodes
 * first, each cabinet full of nodes before the next; those without nodes in
 * cabinets of their own, of as many ports each as the others have in the mean.
 * Cabinets stand in rows of a floor that
 * is as nearly square as it can be. A cable inside a cabinet has the length
 * `inside`; one between cabinets goes along the rows and across them, and has
 * `slack` besides. Nodes are in the cabinet of their router; where a node hangs
 * on several, of the first.
 */
#pragma once

#include "network/network.h"

/* Prices and lengths by name: one table to set and to print them. */
enum cpl_price {
	CPL_PRICE_ROUTER,         /* of a router */
	CPL_PRICE_PORT,           /* and of each of its ports in use */
	CPL_PRICE_ROUTER_FACTOR,  /* times that */
	CPL_PRICE_COPPER,         /* of a cable */
	CPL_PRICE_COPPER_METRE,
	CPL_PRICE_OPTICAL,
	CPL_PRICE_OPTICAL_METRE,
	CPL_PRICE_OPTICAL_SQUARE, /* of a metre squared */
	CPL_PRICE_CABLE_FACTOR,   /* times either */
	CPL_PRICE_COPPER_MOST,    /* metres; longer ones are optical */
	CPL_PRICE_CABINET,        /* nodes */
	CPL_PRICE_WIDTH,          /* metres of a cabinet along its row */
	CPL_PRICE_PITCH,          /* metres from row to row */
	CPL_PRICE_INSIDE,         /* metres */
	CPL_PRICE_SLACK,          /* metres */
	CPL_PRICES
};

struct cpl_price_entry {
	const char *name;
	double built_in, least;
};

extern const struct cpl_price_entry cpl_price_list[CPL_PRICES];

struct cpl_network_cost {
	int cabinets;
	int64_t ports;            /* of routers, in use */
	int64_t copper, optical;  /* cables, those of nodes too */
	double metres;            /* of all cables */
	double router_cost, copper_cost, optical_cost;
};

/* With these prices [CPL_PRICES]. 0, or -1 with err (memory). O(links + nodes).
 */
int cpl_network_cost(const struct cpl_network *net, const double *price,
                     struct cpl_network_cost *out, struct cpl_error *err);
