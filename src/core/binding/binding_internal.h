/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared inside the binding room: the tree over the slots of a request, and
 * the grouping step of TreeMatch.
 */
#ifndef CPL_BINDING_INTERNAL_H
#define CPL_BINDING_INTERNAL_H

#include "binding/binding.h"

/*
 * Slots in tree order and the hardware levels above them, root first. Levels
 * at which no hwloc object of the whole topology branches are left out, so
 * that the distance does not depend on private caches; the cores themselves
 * are no level. Objects of a level are intervals of slots, numbered from 0 in
 * slot order; a slot whose cores lie in several objects is one of its own.
 * When ranks share slots, each seat is a slot here and the shared CPU set is
 * the last level.
 */
struct cpl_slot_tree {
	int n_slots;
	hwloc_cpuset_t *cpuset; /* [n_slots] allowed PUs of its cores */
	int n_levels;
	int *object;      /* [n_levels * n_slots] object of a slot at a level */
	int *n_objects;   /* [n_levels] */
	int socket_level; /* objects that `cluster` fills, -1: one for all */
	char (*name)[32]; /* [n_levels] */
};

struct cpl_bind_problem {
	const struct cpl_bind_request *req; /* NULL: tree and graph only */
	const struct cpl_slot_tree *tree;
	const struct cpl_comm *graph; /* symmetric; bytes hold the metric,
	                               * messages may be NULL */
};

static inline int cpl_slot_object(const struct cpl_slot_tree *tree, int level,
                                  int slot)
{
	return tree->object[(size_t)level * tree->n_slots + slot];
}

/* NULL with err (no allowed core, no room, memory). O(cores * levels). */
struct cpl_slot_tree *cpl_slot_tree_new(const struct cpl_bind_request *req,
                                        struct cpl_error *err);
/* A balanced tree without CPUs: arity[0] is the root's. */
struct cpl_slot_tree *cpl_slot_tree_even(int n_levels, const int *arity,
                                         struct cpl_error *err);
void cpl_slot_tree_free(struct cpl_slot_tree *tree);

/*
 * TreeMatch (RR-8269, section 2) over any such tree, whose level 0 is the root;
 * only its objects are looked at. graph is symmetric, graph->ranks <= n_slots.
 * slot[rank] as a binder's. expired (may be NULL) is asked between levels and
 * uneven groups. 0, 1 when it said true: slot is then not set, or -1 with err.
 * Shared with the mapping room.
 */
int cpl_treematch(const struct cpl_slot_tree *tree,
                  const struct cpl_comm *graph, bool (*expired)(void *arg),
                  void *expired_arg, int *slot, struct cpl_error *err);

/*
 * 2 * levels from the cores up to the lowest object that holds both slots; 0
 * for a == b. O(levels).
 */
int cpl_slot_distance(const struct cpl_slot_tree *tree, int a, int b);

/* Sum over pairs of graph (symmetric) of bytes * distance. O(entries). */
double cpl_slot_cost(const struct cpl_slot_tree *tree,
                     const struct cpl_comm *graph, const int *slot);

/*
 * Whether rank may take slot by request.near: at least one of the slot's CPUs
 * is in the set. [ranks * n_slots] bits as bytes, or NULL without wishes
 * (*out).
 */
int cpl_near_table(const struct cpl_bind_request *req,
                   const struct cpl_slot_tree *tree, unsigned char **out,
                   struct cpl_error *err);
/*
 * Move as many ranks as can to slots that they may take (augmenting paths,
 * nearest slots first); returns how many are left, or -1 with err.
 */
int cpl_near_repair(const struct cpl_slot_tree *tree, int ranks,
                    const unsigned char *table, int *slot,
                    struct cpl_error *err);

/* Ascending ints, for qsort and bsearch. */
int cpl_by_int(const void *a, const void *b);

/* Traffic between groups of items, group[i] of n_groups; the result has no
 * messages. O(entries + n_groups * log). */
struct cpl_comm *cpl_bind_aggregate(const struct cpl_comm *graph,
                                    const int *group, int n_groups,
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
 * work are used up. Lowers the cost by *gain (may be NULL). 0, or -1 when
 * memory is out. O(sweeps * ranks * (ranks + objects)), plus O(levels * degree)
 * for each swap.
 */
int cpl_bind_refine(const struct cpl_slot_tree *tree,
                    const struct cpl_comm *graph,
                    const struct cpl_refinement *how, int *slot, double *gain,
                    struct cpl_error *err);

/*
 * Simulated annealing by swaps of ranks, `steps` of them tried, on the slots in
 * use; the end may cost more than the start. A pure function of its arguments.
 * 0, or -1 when memory is out. O(steps * degree + ranks^2 * levels).
 */
int cpl_bind_anneal(const struct cpl_slot_tree *tree,
                    const struct cpl_comm *graph, int64_t steps, uint64_t seed,
                    int *slot, struct cpl_error *err);

/*
 * Onto the first slots by bisecting the ranks along the tree, from the root
 * down (see cpl_map_bisect_runs). graph has messages. 0, or -1 with err.
 * O(runs * entries * log(ranks) * log(slots)).
 */
int cpl_bind_bisect(const struct cpl_slot_tree *tree,
                    const struct cpl_comm *graph, uint64_t seed, int runs,
                    int *slot, struct cpl_error *err);

/*
 * Scotch onto a tleaf of the tree's arities, or a part of it; weight[level] of
 * its links, NULL: n_levels - level. Ranks beyond the first on a leaf go to the
 * nearest free one; *moved (may be NULL) counts them. Only in programs that
 * link scotch.c. 0, or -1 with err.
 */
int cpl_bind_scotch(const struct cpl_slot_tree *tree,
                    const struct cpl_comm *graph, const int *weight, int *slot,
                    int *moved, struct cpl_error *err);

/* Groups of equal or unequal size over items; see the two makers below. */
struct cpl_groups {
	int n_groups;
	int *start;  /* [n_groups + 1] into member */
	int *member; /* items; those >= the graph's ranks are artificial */
};

/* Exhaustive grouping is used below this number of possible groups. */
#define CPL_TREEMATCH_MAX_GROUPS 30000

/* Binomial coefficient as a double, exact as long as it is below 2^53. */
double cpl_binomial(int n, int k);

/*
 * TreeMatch's division of arities (RR-8269, section 4 and Table 2): the
 * greatest proper divisor d of k when C(p, k) > d * C(p, k / d), that is, when
 * listing the groups of k of p items costs more than those of k / d; else 1.
 */
int cpl_treematch_divide(int p, int k);

/*
 * GroupProcesses (RR-8269, section 3): all p = graph->ranks items, padded with
 * artificial ones to a multiple of k, into groups of k. The lightest of three
 * greedy choices among all possible groups when those are fewer than
 * CPL_TREEMATCH_MAX_GROUPS, else FastGroupProcesses. Groups come in order of
 * their smallest member, members ascending. 0, or -1 when memory is out.
 */
int cpl_treematch_group(const struct cpl_comm *graph, int k,
                        struct cpl_groups *out, struct cpl_error *err);

/*
 * The same for trees whose objects differ: group g takes need[g * n_types + t]
 * items of type t. type[] has one entry per item, artificial ones included
 * (items graph->ranks .. n_items - 1); the needs of each type add up to its
 * items. Groups come in the order of need; the largest is filled first, with
 * the items that keep most traffic inside less what they send outside. expired
 * (may be NULL) is asked between groups. 0, 1 when it said true: nothing is to
 * be freed then, or -1 with err.
 */
int cpl_treematch_group_uneven(const struct cpl_comm *graph, int n_items,
                               const int *type, int n_types, const int *need,
                               int n_groups, bool (*expired)(void *arg),
                               void *expired_arg, struct cpl_groups *out,
                               struct cpl_error *err);
/*
 * FastGroupProcesses (RR-8269, section 4.2): pairs by falling traffic, ties by
 * (i, j); two free items open a group, a free one joins that of the other. Only
 * the bucket in use is sorted, and only of items that are still free. O(entries
 * + sorted log sorted).
 */
int cpl_treematch_group_fast(const struct cpl_comm *graph, int p, int k,
                             struct cpl_groups *out, struct cpl_error *err);
int cpl_groups_alloc(struct cpl_groups *out, int n_groups, int n_members,
                     struct cpl_error *err);
void cpl_groups_free(struct cpl_groups *groups);

#endif
