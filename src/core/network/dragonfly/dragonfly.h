/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonflies (Cray Cascade; Jain 2016, 3.2.1): node id = ((group * rows + row)
 * * columns + column) * nodes_per_router + port. Routers of one row (chassis)
 * are all-to-all, those of one column of a group too. Link ids are O(1).
 *
 * Wiring "modulo": of the K global links between groups A and B, link k sits
 * in A on local router (B * K + k) mod (rows * columns) and in B on
 * (A * K + k) mod (rows * columns) (Jain 2016, 8.1.1). Links between the same
 * two routers are links of their own.
 *
 * The next two number a group's global ports 0 .. P - 1, P = (groups - 1) * K,
 * and give each router H = P / (rows * columns) consecutive ones, rounded up:
 * port p is on local router p / H.
 *
 * "consecutive": link k of A to B is at port (B - (B > A)) * K + k: groups in
 * increasing order, the own one left out (Kim et al. 2008, as in BookSim's
 * dragonflynew; Camarero, Vallejo, Beivide 2014; "absolute" of Hastings et al.
 * 2015, with which SST's merlin agrees for K = 1 and full ports only).
 *
 * "palmtree": ports go to the groups before A, nearest first: with A < B, link
 * k is at port ((A - B - 1) mod groups) * K + k in A and at ((B - A - 1) mod
 * groups) * K + K - 1 - k in B: port p of A leads to group A - 1 - p / K and
 * meets port P - 1 - p there (Garcia et al. 2012; Camarero, Vallejo, Beivide
 * 2014).
 *
 * "list": K rows [A, i, B, j] of "global_links" for each pair of groups, local
 * router i of A to j of B; the k-th of them is link k.
 *
 * Where groups differ: dragonfly_kinds.h.
 */
#pragma once

#include "network/dragonfly/group.h"
#include "network/dragonfly/wiring.h"

extern const struct cpl_network_type cpl_network_dragonfly;

struct cpl_dragonfly {
	int groups, rows, columns;
	int global_per_pair; /* K: global links per pair of groups */
	int routers_per_group; /* rows * columns */
	struct cpl_wires wires;
	/* Their gateways: gateway[cpl_dragonfly_global(a, b, k)] is the router
	 * id in a of link k to b; the far end is the gateway of link k from b
	 * to a. */
	const int *gateway;
	int *row_of; /* [routers_per_group] */
	/*
	 * Which of the K links from group a to group b are on a row, and on a
	 * column, of a: bit k % 64 of rows_columns[(cpl_wires_pair(groups, a,
	 * b) * words + k / 64) * (rows + columns) + row], + rows + column. NULL
	 * where K is 1 or that would be large.
	 */
	uint64_t *rows_columns;
	int words; /* K / 64, rounded up */
};

static inline const struct cpl_dragonfly *
cpl_dragonfly_of(const struct cpl_network *net)
{
	return (const void *)net->own;
}

enum { CPL_DRAGONFLY_ROW, CPL_DRAGONFLY_COLUMN, CPL_DRAGONFLY_GLOBAL };

static inline struct cpl_local_group
cpl_dragonfly_group(const struct cpl_network *net, int group)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int64_t first = (int64_t)group * df->routers_per_group;

	return (struct cpl_local_group){
	        .row = net->link_class[CPL_DRAGONFLY_ROW].first +
	               first * (df->columns - 1),
	        .column = net->link_class[CPL_DRAGONFLY_COLUMN].first +
	                  first * (df->rows - 1),
	        .rows = df->rows,
	        .columns = df->columns,
	};
}

/* Link from `router` to another column of its row. */
static inline int64_t cpl_dragonfly_row_link(const struct cpl_network *net,
                                             int router, int column)
{
	int columns = cpl_dragonfly_of(net)->columns;

	return net->link_class[CPL_DRAGONFLY_ROW].first +
	       (int64_t)router * (columns - 1) + column -
	       (column > router % columns);
}

/* Link from `router` to another row of its column, in the same group. */
static inline int64_t cpl_dragonfly_column_link(const struct cpl_network *net,
                                                int router, int row)
{
	int rows = cpl_dragonfly_of(net)->rows;

	return net->link_class[CPL_DRAGONFLY_COLUMN].first +
	       (int64_t)router * (rows - 1) + row -
	       (row > router / cpl_dragonfly_of(net)->columns % rows);
}

/* Link k from group a to b != a: into gateway[], and with the class's first
 * link added the link id. */
static inline int64_t cpl_dragonfly_global(const struct cpl_network *net, int a,
                                           int b, int k)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);

	return cpl_wires_pair(df->groups, a, b) * df->global_per_pair + k;
}
