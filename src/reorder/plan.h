/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which process of a communicator becomes which rank of a stated graph. */
#ifndef CPL_REORDER_PLAN_H
#define CPL_REORDER_PLAN_H

#include "graph/comm.h"

#define REORDER_NAME_SIZE 64

/* Where a process runs. */
struct reorder_location {
	char host[REORDER_NAME_SIZE];
	int package; /* of the CPUs that it may use; -1: of several, or unknown */
	int cpu;     /* the first of them */
};

struct reorder_request {
	int n;                             /* processes, and ranks of comm */
	const struct reorder_location *place; /* [n] */
	const struct cpl_comm *comm;       /* the graph, directed */
	const char *mapper;  /* as of `commplace map --algorithm` */
	const char *network; /* a description that has the hosts; NULL: all are
	                      * equally far from each other */
};

/*
 * rank_of[process]: its rank in the graph, a permutation. Ranks go to hosts by
 * the mapper, and to the packages of a host likewise, where each process is on
 * one; an order is left as it is where the mapper finds nothing better by the
 * largest congestion. In a package the lowest rank is on the first CPU. 0, or -1
 * with err (memory, no such mapper, a network that does not have a host).
 * Deterministic.
 */
int reorder_plan(const struct reorder_request *req, int *rank_of,
                 struct cpl_error *err);

#endif
