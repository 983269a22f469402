/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which ranks share a host, before it is known which host: made once for many
 * node sets.
 */
#ifndef CPL_MAPPING_RANK_GROUPS_H
#define CPL_MAPPING_RANK_GROUPS_H

#include "graph/comm.h"
#include "network/network.h"

struct cpl_rank_groups {
	int n;
	int *of;  /* [ranks] group of a rank, or NULL: blocks */
	struct cpl_comm *hosts; /* [n] traffic between groups, directed; the
	                         * diagonal is that inside */
	/* [n * ports] the same between their ports, where the network's ranks
	 * have ports of their own (cpl_network_judged); or NULL. */
	struct cpl_comm *ports;
};

/* What is judged: traffic between nodes of cpl_network_judged. */
static inline const struct cpl_comm *
cpl_rank_groups_judged(const struct cpl_rank_groups *groups)
{
	return groups->ports ? groups->ports : groups->hosts;
}

/* Blocks: the first size[0] ranks, the next size[1], ... ; rank counts add up to
 * at least the ranks, the last groups may get fewer or none. On net, as all
 * groups here, or on nodes of one port (NULL). 0, or -1 with err (memory); to be freed in either case.
 * O(entries). */
int cpl_rank_groups_blocks(struct cpl_rank_groups *groups,
                      const struct cpl_network *net, const struct cpl_comm *comm,
                      const int *size, int n, struct cpl_error *err);

/*
 * The same sizes, but each group grown from the rank that talks most with those
 * of other groups by the rank that talks most with it; of those that do alike by
 * the one whose partners do, ties to the lowest; or boxes of the grid that ranks
 * are numbered along (rank_boxes.h): those of which the group with most traffic
 * outside has less. Where neither that nor all traffic between groups is less than
 * with blocks, groups by columns of ranks (rank_boxes.h), if these are no worse: what
 * their routers have to carry is another matter. 1; or 0, and nothing to free, where
 * blocks are better; or -1 with err (memory). graph: both ways. O(entries *
 * log(ranks) + divisors of ranks * ranks).
 */
int cpl_rank_groups_grow(struct cpl_rank_groups *groups,
                    const struct cpl_network *net, const struct cpl_comm *comm,
                    const struct cpl_comm *graph, const int *size, int n,
                    struct cpl_error *err);
/* Groups of[ranks] that are given; a copy is kept. 0, or -1 with err (memory);
 * to be freed in either case. O(entries). */
int cpl_rank_groups_given(struct cpl_rank_groups *groups,
                     const struct cpl_network *net, const struct cpl_comm *comm,
                     const int *of, int n, struct cpl_error *err);
void cpl_rank_groups_free(struct cpl_rank_groups *groups);

/* The group of a rank in blocks of these sizes [n]: of[ranks]. O(ranks + n). */
void cpl_rank_groups_list_blocks(const int *size, int n, int ranks, int *of);

#endif
