/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grouping step of TreeMatch (Jeannot, Mercier, Tessier, RR-8269). */
#pragma once

#include <stdbool.h>

#include "graph/comm.h"

struct cpl_groups {
	int n_groups;
	int *start;  /* [n_groups + 1] into member */
	int *member; /* items; those >= the graph's ranks are artificial */
};

/* Exhaustive grouping is used below this number of possible groups. */
#define CPL_TREEMATCH_MAX_GROUPS 30000

/* Binomial coefficient as a double, exact as long as it is below 2^53. */
double cpl_binomial(int n, int k);

/* Division of arities (section 4 and Table 2): the greatest proper divisor d of
 * k when C(p, k) > d * C(p, k / d), so that fewer groups are listed; else 1. */
int cpl_treematch_divide(int p, int k);

/*
 * GroupProcesses (section 3): graph->ranks items, with artificial ones up to a
 * multiple of k, into groups of k. The lightest of three greedy choices among
 * all groups when those are fewer than CPL_TREEMATCH_MAX_GROUPS, else
 * FastGroupProcesses. Groups come in order of their smallest member, members
 * ascending. 0, or -1 with err (memory).
 */
int cpl_treematch_group(const struct cpl_comm *graph, int k,
                        struct cpl_groups *out, struct cpl_error *err);

/*
 * The same for trees whose objects differ: group g takes need[g * n_types + t]
 * items of type t, type[n_items], artificial ones last; needs add up to the
 * items. Groups come in the order of need; the largest is filled first, with
 * the items of most traffic inside less that outside. expired (may be NULL) is
 * asked between groups. 0; 1 when it said true, nothing is to be freed then; or
 * -1 with err.
 */
int cpl_treematch_group_uneven(const struct cpl_comm *graph, int n_items,
                               const int *type, int n_types, const int *need,
                               int n_groups, bool (*expired)(void *arg),
                               void *expired_arg, struct cpl_groups *out,
                               struct cpl_error *err);
/* FastGroupProcesses (section 4.2): pairs by falling traffic, ties by (i, j);
 * two free items open a group, a free one joins that of the other. O(entries +
 * sorted log sorted). */
int cpl_treematch_group_fast(const struct cpl_comm *graph, int p, int k,
                             struct cpl_groups *out, struct cpl_error *err);
int cpl_groups_alloc(struct cpl_groups *out, int n_groups, int n_members,
                     struct cpl_error *err);
void cpl_groups_free(struct cpl_groups *groups);
