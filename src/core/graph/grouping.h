/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grouping step of TreeMatch (Jeannot, Mercier, Tessier, RR-8269). */
#ifndef CPL_GRAPH_GROUPING_H
#define CPL_GRAPH_GROUPING_H

#include <stdbool.h>

#include "graph/comm.h"

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
