/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This search moves those hosts of a job whose traffic causes congestion. Given
 * free nodes it chooses nodes and rank order together; without any it only
 * exchanges hosts, which yields a rank order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mapping/rank_groups.h"
#include "routing/routing.h"
#include "traffic/moves.h"
#include "traffic/objective.h"

struct cpl_host_search {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_rank_groups *groups; /* whose hosts are placed */
	const struct cpl_load *background; /* or NULL */
	const struct cpl_load *rates; /* cpl_objective_by_time, or NULL */
	enum cpl_objective objective;
	uint64_t seed;
	/* [n_nodes] 1: hosts may go there; NULL: hosts are only exchanged. */
	const unsigned char *free;
	const int *required; /* nodes that stay in the set */
	int n_required;
	/* [hosts] Only hosts of one kind are exchanged; NULL: all may be. */
	const int *kind;
	long work;       /* at most, in links of routes looked at */
	/* From cpl_host_search_open, for several searches; or NULL. */
	struct cpl_moves *moves;
	bool (*expired)(void *arg);
	void *expired_arg;
};

/*
 * Improves node[hosts] (distinct) in place by exchanging a node for a free one
 * or by swapping two hosts. The hosts that move are those whose traffic crosses
 * the busiest link or, for mean-congestion and hop-bytes, causes most
 * hop-bytes; they go to free nodes near their partners and to nodes drawn from
 * the seed. The objective's first number never gets worse on the way; for
 * max-congestion the mean may, so the caller compares the end with the start.
 * Where the routing has no add, steps are judged by the minimal routing.
 *
 * The end is set by `work`, never by the clock, so that results can be
 * repeated: once `expired` says true, which sets *cut_short, node[] is what it
 * was at the last of CPL_HOST_SEARCH_POINTS points, each after a fixed share of
 * the work, or as given.
 *
 * Returns 0, or -1 with err (memory), in O(work + links).
 */
#define CPL_HOST_SEARCH_POINTS 3
int cpl_host_search(const struct cpl_host_search *how, int *node,
                    bool *cut_short, struct cpl_error *err);

/* Makes what several searches on these nodes [n] under one background share; of
 * `how` only net, routing and background count. Returns 0, or -1 with err
 * (memory), in O(links); free it with cpl_moves_free. */
int cpl_host_search_open(const struct cpl_host_search *how, const int *node,
                         int n, struct cpl_moves *moves,
                         struct cpl_error *err);
