/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

static int bind_packed(const struct cpl_bind_problem *problem, int *slot,
                       struct cpl_error *err)
{
	for (int r = 0; r < problem->graph->ranks; r++)
		slot[r] = r;
	return 0;
}

const struct cpl_binder cpl_binder_packed = {
        .name = "packed",
        .summary = "rank i on the i-th core in tree order",
        .bind = bind_packed,
        .orders_cores = true,
};
