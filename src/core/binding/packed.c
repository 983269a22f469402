/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding.h"

static int bind_packed(const struct cpl_bind_request *req, int n_slots,
                       int *slot, struct cpl_error *err)
{
	for (int r = 0; r < req->comm->ranks; r++)
		slot[r] = r;
	return 0;
}

const struct cpl_binder cpl_binder_packed = {
        .name = "packed",
        .summary = "rank i on the i-th core in tree order",
        .bind = bind_packed,
};
