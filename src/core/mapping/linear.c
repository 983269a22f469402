/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/mapping.h"

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	int rank = 0;

	for (int h = 0; h < req->n_hosts; h++)
		for (int i = 0; i < req->slots[h]; i++)
			rank_host[rank++] = h;
	return 0;
}

const struct cpl_mapper cpl_mapper_linear = {
        .name = "linear",
        .summary = "block order: fill one host after the other",
        .map = map,
};
