/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the hosts of a job go: those whose traffic causes congestion move. With
 * free nodes to go to it chooses nodes and rank order together; without, it
 * exchanges hosts, which makes a rank order.
 */
#ifndef CPL_MAPPING_HOST_SEARCH_H
#define CPL_MAPPING_HOST_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "mapping/rank_groups.h"
#include "routing/routing.h"
#include "traffic/moves.h"
#include "traffic/objective.h"

struct cpl_host_search {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_rank_groups *groups; /* of the hosts */
	const struct cpl_load *background; /* or NULL */
	const struct cpl_load *rates; /* cpl_objective_by_time, or NULL */
	enum cpl_objective objective;
	uint64_t seed;
	/* [n_nodes], 1: hosts may go there; NULL: hosts are only exchanged. */
	const unsigned char *free;
	const int *required; /* nodes that stay in the set */
	int n_required;
	/* Which hosts may be exchanged: those of one kind; NULL: all. */
	const int *kind; /* [hosts] */
	long work;       /* links of routes looked at, at the most */
	/* Of cpl_host_search_open, for several searches; NULL: its own. */
	struct cpl_moves *moves;
	bool (*expired)(void *arg);
	void *expired_arg;
};

/*
 * Improve node[hosts] (distinct) in place by exchanging a node for a free one or
 * swapping two hosts. Those hosts move whose traffic crosses the busiest link
 * (mean-congestion and hop-bytes: that cause most hop-bytes), to free nodes near
 * their partners and to nodes drawn from the seed. The objective's first number
 * never gets worse on the way; for max-congestion the mean may, so the caller
 * compares the end with the start. Where the routing has no add, the steps are
 * judged by the minimal routing.
 *
 * The end is set by `work`, never by the clock: once expired says true, which
 * sets *cut_short, node[] is what it was at the last of CPL_HOST_SEARCH_POINTS
 * points, each after a fixed share of the work, or as given. So the same request
 * has one of so many answers and that of all the work, whenever it is cut.
 *
 * 0, or -1 with err (memory). O(work + links).
 */
#define CPL_HOST_SEARCH_POINTS 3
int cpl_host_search(const struct cpl_host_search *how, int *node,
                    bool *cut_short, struct cpl_error *err);

/*
 * What searches of jobs on these nodes [n] under one background share: of how,
 * net, routing and background count. cpl_moves_free(moves) in the end. 0, or -1
 * with err (memory). O(links).
 */
int cpl_host_search_open(const struct cpl_host_search *how, const int *node,
                         int n, struct cpl_moves *moves,
                         struct cpl_error *err);

#endif
