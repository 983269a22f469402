/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TreeMatch (Jeannot, Mercier, Tessier, INRIA RR-8269). */
#pragma once

#include <stdbool.h>

#include "graph/tree.h"

/* Section 2, over any tree, whose level 0 is the root: slot[rank], each slot at
 * most once. graph is symmetric, of n_slots ranks or fewer. expired (or NULL)
 * is asked between levels and uneven groups. 0; 1 when it said true, slot is
 * then not set; or -1 with err. A level costs what its grouping does
 * (graph/grouping.h), and O(entries + slots * shapes of objects). */
int cpl_treematch(const struct cpl_tree *tree, const struct cpl_comm *graph,
                  bool (*expired)(void *arg), void *expired_arg, int *slot,
                  struct cpl_error *err);
