/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of ranks that are to share a host, made before it is known which host,
 * once for many node sets.
 */
#pragma once

#include "graph/comm.h"
#include "network/network.h"

struct cpl_rank_groups {
	int n;
	int *of;  /* [ranks] group of a rank, or NULL: blocks */
	struct cpl_comm *hosts; /* [n] traffic between groups, directed; the
	                         * diagonal is that inside */
	/* [n * ports] The same between the groups' ports, where the network's
	 * ranks have ports of their own (cpl_network_judged); else NULL. */
	struct cpl_comm *ports;
	/* Likewise where a message's rail depends on both ranks; else NULL. */
	struct cpl_comm *rails;
};

/* The traffic that is judged: between nodes of cpl_network_judged. */
static inline const struct cpl_comm *
cpl_rank_groups_judged(const struct cpl_rank_groups *groups)
{
	return groups->ports ? groups->ports : groups->hosts;
}

/* Groups in blocks: the first size[0] ranks, the next size[1], ... The sizes
 * add up to at least the ranks; the last groups may get fewer or none. net may
 * be NULL for nodes of one port. Returns 0, or -1 with err (memory), in
 * O(entries); free them in either case. */
int cpl_rank_groups_blocks(struct cpl_rank_groups *groups,
                      const struct cpl_network *net, const struct cpl_comm *comm,
                      const int *size, int n, struct cpl_error *err);

/*
 * Groups of the same sizes that have less traffic between them. Each grows from
 * the rank that talks most with ranks of other groups, by the rank that talks
 * most with it, among equals by the one whose partners do, ties to the lowest.
 * Boxes of the grid that ranks are numbered along (rank_boxes.h) are made too,
 * and taken where their busiest group has less traffic outside. Where neither
 * that nor all traffic between groups is less than with blocks, groups by
 * columns of ranks are taken if they are no worse, since they may load routers
 * less. Returns 1; 0, with nothing to free, where blocks are better; or -1 with
 * err (memory). graph has both directions. O(entries * log(ranks) + divisors of
 * ranks * ranks).
 */
int cpl_rank_groups_grow(struct cpl_rank_groups *groups,
                    const struct cpl_network *net, const struct cpl_comm *comm,
                    const struct cpl_comm *graph, const int *size, int n,
                    struct cpl_error *err);
/* Groups as given by of[ranks], which is copied. Returns 0, or -1 with err
 * (memory), in O(entries); free them in either case. */
int cpl_rank_groups_given(struct cpl_rank_groups *groups,
                     const struct cpl_network *net, const struct cpl_comm *comm,
                     const int *of, int n, struct cpl_error *err);
/*
 * Bytes on the busiest port of the groups on node[], alone, where ranks use the ports of
 * their accelerators; of a node where they do not. load has room for 2 * n * ports.
 * O(entries of rails).
 */
double cpl_rank_groups_rail(const struct cpl_rank_groups *groups,
                            const struct cpl_network *net, const int *node,
                            double *load);
void cpl_rank_groups_free(struct cpl_rank_groups *groups);

/* Writes ranks' groups in blocks of size[n] into of[ranks]. O(ranks + n). */
void cpl_rank_groups_list_blocks(const int *size, int n, int ranks, int *of);
