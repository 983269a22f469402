/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/treematch.h"

#include "binding/binding_internal.h"

static int bind_treematch(const struct cpl_bind_problem *problem, int *slot,
                          struct cpl_error *err)
{
	return cpl_treematch(problem->tree, problem->graph, NULL, NULL, slot,
	                     err);
}

const struct cpl_binder cpl_binder_treematch = {
        .name = "treematch",
        .summary = "groups of ranks that talk most, level by level of the tree",
        .bind = bind_treematch,
};
