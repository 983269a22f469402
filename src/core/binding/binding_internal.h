/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree over the slots of a request, and functions that several algorithms
 * of this room use.
 */
#pragma once

#include "binding/binding.h"
#include "graph/tree.h"

/* Slots and the hardware levels above them; the cores are the last, and levels
 * at which nothing of the whole topology branches are left out. A slot whose
 * cores lie in several objects is an object of its own. When ranks share CPU
 * sets, each rank's share is a slot here and the set is the last level. */
struct cpl_slots {
	struct cpl_tree tree;
	hwloc_cpuset_t *cpuset; /* [n_slots] allowed PUs of its cores */
	int socket_level; /* its objects are filled by `cluster`; -1: one for
	                   * all */
	char (*name)[32]; /* [n_levels] */
};

struct cpl_bind_problem {
	const struct cpl_bind_request *req; /* NULL: there are only tree and
	                                     * graph */
	const struct cpl_slots *slots;      /* or NULL as well */
	const struct cpl_tree *tree;        /* of the slots */
	const struct cpl_comm *graph;       /* symmetric; bytes have the metric,
	                                     * and messages may be NULL */
};

/* Makes the slots; `spread` is over memory domains, see cpl_bind. NULL with err
 * (no allowed core, too few, memory). O(cores * (levels + cores of a
 * domain)). */
struct cpl_slots *cpl_slots_new(const struct cpl_bind_request *req, bool spread,
                                struct cpl_error *err);
void cpl_slots_free(struct cpl_slots *slots);

/* Makes the table [ranks * n_slots] of whether a rank may take a slot by
 * request.near, for which one of the slot's CPUs must be in the set. *out is
 * NULL where all may. Returns 0, or -1 with err. */
int cpl_near_table(const struct cpl_bind_request *req,
                   const struct cpl_slots *slots, unsigned char **out,
                   struct cpl_error *err);
/* Moves as many ranks as can be to slots that they may take (augmenting paths,
 * nearest slots first). Returns how many are left, or -1 with err. */
int cpl_near_repair(const struct cpl_tree *tree, int ranks,
                    const unsigned char *table, int *slot,
                    struct cpl_error *err);

struct cpl_refinement {
	const unsigned char *table; /* from cpl_near_table, or NULL */
	int sweeps;                 /* at most */
	bool coarse; /* where the tree is balanced, whole objects go first */
	/* A seed; 0: no noise. In some first sweeps each rank takes the swap
	 * that seems best under noise that falls (Charon, Hudry, Oper. Res.
	 * Lett. 14(3), 1993), so that the end may cost more than the start. */
	uint64_t noise;
	int64_t *work; /* entries and ranks that may still be looked at, which
	                * it lowers; NULL: no limit */
};

/* Refines by swaps: in each sweep every rank is swapped with the rank (or free
 * slot) that lowers the cost most, until a sweep finds nothing, or sweeps or
 * work are used up. Returns 0, or -1 with err (memory), in O(sweeps * ranks *
 * (ranks + objects)), plus O(levels * degree) for each swap. */
int cpl_bind_refine(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    const struct cpl_refinement *how, int *slot,
                    struct cpl_error *err);

/* Simulated annealing, which tries `steps` swaps of ranks on the slots in use;
 * the end may cost more than the start. Returns 0, or -1 with err (memory), in
 * O(steps * degree + ranks^2 * levels). */
int cpl_bind_anneal(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    int64_t steps, uint64_t seed, int *slot,
                    struct cpl_error *err);

/* Puts ranks on the first slots by bisecting them along the tree, from the root
 * down (cpl_graph_halve). graph must have messages. Returns 0, or -1 with
 * err. */
int cpl_bind_bisect(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    uint64_t seed, int runs, int *slot, struct cpl_error *err);

/* Maps by Scotch onto a tleaf of the tree's arities, or a part of it.
 * weight[level] is that of its links; NULL: n_levels - level. Ranks beyond the
 * first on a leaf go to the nearest free one; *moved (may be NULL) counts them.
 * Only programs that link scotch.c have it. Returns 0, or -1 with err. */
int cpl_bind_scotch(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    const int *weight, int *slot, int *moved,
                    struct cpl_error *err);
