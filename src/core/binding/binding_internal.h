/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared inside the binding room: the tree over the slots of a request, and
 * what the algorithms share.
 */
#ifndef CPL_BINDING_INTERNAL_H
#define CPL_BINDING_INTERNAL_H

#include "binding/binding.h"
#include "graph/tree.h"

/*
 * Slots and the hardware levels above them, but those at which nothing of the
 * whole topology branches, and the cores. A slot whose cores lie in several
 * objects is an object of its own. When ranks share CPU sets, each rank's share
 * is a slot here and the set is the last level.
 */
struct cpl_slots {
	struct cpl_tree tree;
	hwloc_cpuset_t *cpuset; /* [n_slots] allowed PUs of its cores */
	int socket_level; /* objects that `cluster` fills, -1: one for all */
	char (*name)[32]; /* [n_levels] */
};

struct cpl_bind_problem {
	const struct cpl_bind_request *req; /* NULL: tree and graph only */
	const struct cpl_slots *slots;      /* NULL likewise */
	const struct cpl_tree *tree;        /* that of slots */
	const struct cpl_comm *graph;       /* symmetric; bytes hold the metric,
	                                     * messages may be NULL */
};

/* NULL with err (no allowed core, too few, memory). spread: over memory domains,
 * see cpl_bind. O(cores * (levels + cores of a domain)). */
struct cpl_slots *cpl_slots_new(const struct cpl_bind_request *req, bool spread,
                                struct cpl_error *err);
void cpl_slots_free(struct cpl_slots *slots);

/* Whether rank may take slot by request.near, [ranks * n_slots]: one of the
 * slot's CPUs is in the set. *out: NULL where all may. 0, or -1 with err. */
int cpl_near_table(const struct cpl_bind_request *req,
                   const struct cpl_slots *slots, unsigned char **out,
                   struct cpl_error *err);
/* Move as many ranks as can to slots that they may take (augmenting paths,
 * nearest slots first); returns how many are left, or -1 with err. */
int cpl_near_repair(const struct cpl_tree *tree, int ranks,
                    const unsigned char *table, int *slot,
                    struct cpl_error *err);

struct cpl_refinement {
	const unsigned char *table; /* see cpl_near_table, or NULL */
	int sweeps;                 /* at most */
	bool coarse; /* where the tree is balanced, whole objects first */
	/* Seed, or 0: no noise. First some sweeps in which each rank takes the
	 * swap that seems best under noise that falls (Charon, Hudry, Oper.
	 * Res. Lett. 14(3), 1993): the end may cost more than the start. */
	uint64_t noise;
	int64_t *work; /* entries and ranks that may be looked at, lowered by
	                * those that were; NULL: no limit */
};

/*
 * Swap refinement: sweeps over the ranks, each swapped with the rank (or free
 * slot) that lowers the cost most, until a sweep finds nothing, or sweeps or
 * work are used up. 0, or -1 with err (memory). O(sweeps * ranks * (ranks +
 * objects)), plus O(levels * degree) for each swap.
 */
int cpl_bind_refine(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    const struct cpl_refinement *how, int *slot,
                    struct cpl_error *err);

/* Simulated annealing by swaps of ranks, `steps` of them tried, on the slots in
 * use; the end may cost more than the start. 0, or -1 with err (memory).
 * O(steps * degree + ranks^2 * levels). */
int cpl_bind_anneal(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    int64_t steps, uint64_t seed, int *slot,
                    struct cpl_error *err);

/* Onto the first slots by bisecting the ranks along the tree, from the root
 * down (see cpl_graph_halve). graph has messages. 0, or -1 with err. */
int cpl_bind_bisect(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    uint64_t seed, int runs, int *slot, struct cpl_error *err);

/*
 * Scotch onto a tleaf of the tree's arities, or a part of it; weight[level] of
 * its links, NULL: n_levels - level. Ranks beyond the first on a leaf go to the
 * nearest free one; *moved (may be NULL) counts them. Only in programs that
 * link scotch.c. 0, or -1 with err.
 */
int cpl_bind_scotch(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    const int *weight, int *slot, int *moved,
                    struct cpl_error *err);

#endif
