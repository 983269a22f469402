/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranks on the hosts of a network whose nodes are in domains, so that few bytes go
 * from domain to domain. What hosts hold is exchanged between them, and with free
 * hosts, by simulated annealing; tests/bench/domains_bound.c has what no layout gets
 * below.
 */
#pragma once

#include "graph/comm.h"
#include "graph/rank_grid.h"
#include "network/network.h"

struct cpl_domain_layout {
	const struct cpl_network *net; /* accelerators.domain_of is set */
	const struct cpl_comm *comm;
	const struct cpl_rank_grid *grid; /* of comm's ranks; NULL: not known */
	int n_hosts;     /* there may be more than the ranks need */
	const int *host; /* [n_hosts] nodes */
	int per_host;    /* ranks of each host but for the last one */
	uint64_t seed;
	int64_t work; /* edges that each of two searches may look at; 0: 2 million */
};

/* Bytes between domains, and those of the busiest port of a node. */
struct cpl_domain_cost {
	double bytes, port;
};

/*
 * Sets rank_host[comm->ranks] to indices into host[], per_host ranks each but for the
 * last one, from layouts by group_layout.h and in blocks on the first hosts by node, as
 * Slurm fills them, and on the hosts as they are given or, where that is by node, on the
 * domains with most of them, to better ones. No more is sent between domains than in
 * blocks by node, whose cost is *blocks, and no port is busier than in these or in blocks
 * on the hosts as they are given: of a policy's nodes in the order of its ranks the mapper
 * keeps what that found. *out is the cost of the layout.
 * Returns 0, or -1 with err (too few hosts; memory). O(entries log entries + work).
 */
int cpl_domain_layout(const struct cpl_domain_layout *how, int *rank_host,
                      struct cpl_domain_cost *blocks, struct cpl_domain_cost *out,
                      struct cpl_error *err);
