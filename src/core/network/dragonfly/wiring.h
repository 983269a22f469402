/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links between the groups of a dragonfly: see dragonfly.h for the wirings. */
#pragma once

#include <jansson.h>

#include "network/network.h"

/* Where global links sit. */
enum cpl_wiring {
	CPL_WIRING_MODULO,
	CPL_WIRING_CONSECUTIVE,
	CPL_WIRING_PALMTREE,
	CPL_WIRING_LIST,
};

/* Number of the ordered pair of groups a and b: those from group 0 come first,
 * each group's in the order of b. O(1). */
static inline int64_t cpl_wires_pair(int groups, int a, int b)
{
	return (int64_t)a * (groups - 1) + b - (b > a);
}

/* Groups of consecutive routers, K links between each two. */
struct cpl_wires {
	int groups, links; /* K */
	int size;          /* routers of each group, where all have as many */
	const int *first;  /* NULL then; else [groups + 1] first of each */
	enum cpl_wiring wiring;
	/* gateway[cpl_wires_pair(groups, a, b) * K + k]: router in a of link k
	 * to b. free() it, after failures too. */
	int *gateway;
};

/* Read "global_wiring", and with "list" gateway[] of "global_links"; then fill
 * it where the wiring is another. 0 or -1 with err. O(links). */
int cpl_wires_read(struct cpl_wires *w, const json_t *root,
                   struct cpl_error *err);
int cpl_wires_fill(struct cpl_wires *w, struct cpl_error *err);
/* The ends of the links, the first of which has that id. */
void cpl_wires_link(struct cpl_network *net, const struct cpl_wires *w,
                    int64_t first);
