/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "graph/grouping.h"

int cpl_groups_alloc(struct cpl_groups *out, int n_groups, int n_members,
                     struct cpl_error *err)
{
	out->n_groups = n_groups;
	out->start = calloc((size_t)n_groups + 1, sizeof(*out->start));
	out->member = calloc((size_t)n_members + 1, sizeof(*out->member));
	if (out->start && out->member)
		return 0;
	cpl_groups_free(out);
	return cpl_fail_memory(err);
}

void cpl_groups_free(struct cpl_groups *groups)
{
	cpl_free_all(groups->start, groups->member);
	memset(groups, 0, sizeof(*groups));
}
