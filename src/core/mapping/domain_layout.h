/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranks on the hosts of a network whose nodes are in domains, so that few bytes go
 * from domain to domain. What hosts hold together is exchanged between them, and with
 * free hosts, by simulated annealing from a layout; tests/bench/domains_bound.c has
 * what no layout gets below.
 */
#pragma once

#include "graph/comm.h"
#include "network/network.h"

struct cpl_domain_layout {
	const struct cpl_network *net; /* accelerators.domain_of is set */
	const struct cpl_comm *comm;
	int n_hosts; /* there may be more than the ranks need */
	const int *host; /* [n_hosts] nodes */
	int per_host; /* ranks of each host but for the last one */
};

/* Bytes between domains, and those of the busiest port of a node. */
struct cpl_domain_cost {
	double bytes, port;
};

/* Ranks in blocks on the first hosts by node, as Slurm fills them. O(hosts log
 * hosts + ranks). Returns 0, or -1 with err (memory). */
int cpl_domain_blocks(const struct cpl_domain_layout *how, int *rank_host,
                      struct cpl_error *err);

/*
 * Improves rank_host[comm->ranks], indices into host[] with per_host ranks or none
 * each. No port is busier in the end than in blocks, whose cost is *blocks, and *out
 * that of the end. Draws depend on nothing else. Returns 0, or -1 with err (memory).
 * O(entries log entries + a fixed number of exchanges * entries of a host).
 */
int cpl_domain_layout(const struct cpl_domain_layout *how, int *rank_host,
                      struct cpl_domain_cost *blocks, struct cpl_domain_cost *out,
                      struct cpl_error *err);
