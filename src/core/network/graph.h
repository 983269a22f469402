/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Graphs: routers 0 .. node_routers - 1 have nodes, the others none. Links are
 * numbered class by class, within a class in the file's order (a link both
 * ways: first the way it is written). A class is a name, or a bandwidth.
 */
#ifndef CPL_NETWORK_GRAPH_H
#define CPL_NETWORK_GRAPH_H

#include "network/network.h"

/* Entries of the table of next links at the most: 256 MB. */
#define CPL_GRAPH_MAX_TABLE (1 << 26)

/* Next link from router towards router `to` != router, which has nodes. */
static inline int cpl_graph_next(const struct cpl_network *net, int router,
                                 int to)
{
	return net->graph.next[(int64_t)to * net->n_routers + router];
}

#endif
