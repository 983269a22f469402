/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "placement/placement_internal.h"

enum { CHOSEN = 1, REQUIRED = 2 };

int cpl_placement_require(const struct cpl_placement_request *req, int *out,
                          struct cpl_error *err)
{
	int n = req->n_nodes_wanted;
	int n_missing = 0, next = 0, at;
	unsigned char *mark;

	if (!req->n_required)
		return 0;
	mark = calloc((size_t)req->net->n_nodes, 1);
	if (!mark)
		return cpl_fail_memory(err);
	for (int i = 0; i < req->n_required; i++)
		mark[req->required[i]] |= REQUIRED;
	for (int i = 0; i < n; i++)
		mark[out[i]] |= CHOSEN;
	for (int i = 0; i < req->net->n_nodes; i++)
		n_missing += mark[i] == REQUIRED;

	at = n;
	for (int left = n_missing; left > 0;)
		left -= !(mark[out[--at]] & REQUIRED);
	for (; at < n && n_missing > 0; at++) {
		if (mark[out[at]] & REQUIRED)
			continue;
		while (mark[next] != REQUIRED)
			next++;
		out[at] = next++;
	}
	free(mark);
	return 0;
}
