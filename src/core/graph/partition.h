/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication graphs cut into parts of given sizes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/comm.h"

/* Runs of a bisection where the caller does not say how many. */
#define CPL_GRAPH_BISECT_RUNS 4

/*
 * Two halves of a symmetric graph with little traffic between them: side[rank]
 * = 0 for n_left ranks, 1 for the others. Multilevel: heavy-edge matching,
 * greedy graph growing, Fiduccia-Mattheyses at every level (Karypis, Kumar,
 * SIAM J. Sci. Comput. 20(1), 1998; Fiduccia, Mattheyses, DAC 1982), the best
 * of so many runs. expired (may be NULL) is asked between levels and passes;
 * once it says true the best halves so far are taken, or the ranks in order. 0,
 * or -1 with err (memory). O(runs * entries * log(ranks)) in practice.
 */
int cpl_graph_bisect(const struct cpl_comm *graph, int n_left, uint64_t seed,
                     int runs, bool (*expired)(void *arg), void *expired_arg,
                     unsigned char *side, struct cpl_error *err);

/* The targets for which ranks are halved: n of them, the i-th of first[i + 1] -
 * first[i] ranks, one each where first is NULL. */
struct cpl_halving {
	int n;
	const int *first; /* [n + 1] */
	/* Where low .. high - 1 are cut, 0: nowhere. NULL: in the middle. */
	int (*middle)(const void *arg, int low, int high);
	const void *arg;
	uint64_t seed;
	bool seed_by_target; /* seed + low */
	int runs;            /* see cpl_graph_bisect */
	bool (*expired)(void *arg);
	void *expired_arg;
};

/* Recursive bisection: ranks in the order of the targets that take them, which
 * are halved again and again. Once expired says true, the ranks that are left
 * stay in their order. 0, or -1 with err (memory). O(runs * entries *
 * log(ranks) * log(n)). */
int cpl_graph_halve(const struct cpl_comm *graph, const struct cpl_halving *how,
                    int *order, struct cpl_error *err);

/* n_parts parts of slots[i] ranks (0 or more, in all the ranks) with heavy
 * traffic inside: part[rank]. By recursive bisection, so that neighbouring part
 * numbers talk more than far ones, then swaps that lower the cut. Otherwise as
 * above. O(runs * entries * log(ranks) * log(n_parts)). */
int cpl_graph_partition(const struct cpl_comm *graph, const int *slots,
                        int n_parts, uint64_t seed, int runs,
                        bool (*expired)(void *arg), void *expired_arg,
                        int *part, struct cpl_error *err);

/* Traffic between ranks of different parts, both ways. O(entries). */
double cpl_graph_cut(const struct cpl_comm *graph, const int *part);
