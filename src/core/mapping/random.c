/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"

#include "mapping/mapping.h"

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	if (cpl_mapper_map(&cpl_mapper_linear, req, rank_host, err))
		return -1;
	cpl_random_shuffle(rank_host, req->comm->ranks, req->seed,
	                   CPL_STREAM_RANDOM_MAP);
	return 0;
}

const struct cpl_mapper cpl_mapper_random = {
        .name = "random",
        .summary = "ranks on random slots; the same for the same seed",
        .map = map,
};
