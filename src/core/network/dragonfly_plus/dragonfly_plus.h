/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonfly+ (Shpiner et al. 2017, "Dragonfly+: low cost topology for scaling
 * datacenters"): cells of leaf and spine switches, each leaf joined to each
 * spine of its cell, each two cells by K links between spines. Leaves have the
 * nodes. Cells may differ in their numbers of leaves and spines.
 *
 * Router ids: leaves cell by cell, then spines cell by cell. Link (leaf, spine)
 * of a cell has the same number in the classes "up" and "down"; global link k
 * of cell a to cell b is number (a * (cells - 1) + b - [b > a]) * K + k.
 */
#pragma once

#include "network/dragonfly/wiring.h"

extern const struct cpl_network_type cpl_network_dragonfly_plus;

enum { CPL_DFPLUS_UP, CPL_DFPLUS_DOWN, CPL_DFPLUS_GLOBAL };

struct cpl_dfplus {
	int cells;
	int global_per_pair; /* K */
	/* By cell, [cells + 1]: its first leaf (a router id), its first spine
	 * (less n_node_routers), the first of its links up. */
	int *leaf, *spine;
	int64_t *up;
	int *gateway; /* [global links] spine's router id at the near end */
};

static inline const struct cpl_dfplus *
cpl_dfplus_of(const struct cpl_network *net)
{
	return (const void *)net->own;
}

/* Number of a global link in its class. O(1). */
static inline int64_t cpl_dfplus_global(const struct cpl_dfplus *df, int a,
                                        int b, int k)
{
	return cpl_wires_pair(df->cells, a, b) * df->global_per_pair + k;
}

/* Link of a leaf (a router id) to a spine of its cell (by number there), and
 * back. O(1). */
static inline int64_t cpl_dfplus_up(const struct cpl_network *net, int cell,
                                    int leaf, int spine)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);

	return net->link_class[CPL_DFPLUS_UP].first + df->up[cell] +
	       (int64_t)(leaf - df->leaf[cell]) *
	               (df->spine[cell + 1] - df->spine[cell]) +
	       spine;
}

static inline int64_t cpl_dfplus_down(const struct cpl_network *net, int cell,
                                      int leaf, int spine)
{
	return cpl_dfplus_up(net, cell, leaf, spine) +
	       net->link_class[CPL_DFPLUS_DOWN].first -
	       net->link_class[CPL_DFPLUS_UP].first;
}
