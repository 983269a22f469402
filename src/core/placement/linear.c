/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/sort.h"
#include "placement/placement.h"

static int place_linear(const struct cpl_placement_request *req, int *out,
                        struct cpl_error *err)
{
	int n = 0;

	for (int i = 0; n < req->n_nodes_wanted; i++)
		if (req->free[i])
			out[n++] = i;
	if (!req->n_required)
		return 0;
	if (cpl_placement_require(req, out, err))
		return -1;
	/* Linear means id order, required nodes included. */
	qsort(out, (size_t)n, sizeof(*out), cpl_by_int);
	return 0;
}

const struct cpl_placement_policy cpl_placement_linear = {
        .name = "linear",
        .short_name = "LIN",
        .summary = "lowest free nodes in node order",
        .place = place_linear,
};
