/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job that several benchmarks place. */
#pragma once

#include <stdlib.h>

#include "cpu_time.h"
#include "graph/comm.h"

#define PER_NODE 24
#define BYTES 2097152.0

/* 4 x 6 x 8 x (nodes / 8) ranks, periodic; of less than 8 nodes 4 x 6 x
 * nodes. */
static inline struct cpl_comm *stencil(int nodes)
{
	int dim[4] = {4, 6, nodes < 8 ? nodes : 8, nodes < 8 ? 1 : nodes / 8};
	int ranks = nodes * PER_NODE;
	struct cpl_comm_entry *entry =
	        malloc((size_t)ranks * 8 * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	if (!entry)
		return NULL;
	for (int r = 0; r < ranks; r++) {
		int stride = 1;

		for (int d = 0; d < 4; d++) {
			int x = r / stride % dim[d];
			int up = r + ((x + 1) % dim[d] - x) * stride;
			int down = r + ((x + dim[d] - 1) % dim[d] - x) * stride;

			if (up == r)
				continue;
			entry[n++] = (struct cpl_comm_entry){r, up, BYTES, 1};
			entry[n++] = (struct cpl_comm_entry){r, down, BYTES, 1};
			stride *= dim[d];
		}
	}
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	return comm;
}
