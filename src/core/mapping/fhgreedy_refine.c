/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/fhgreedy.h"
#include "mapping/ptram.h"

static int map_wh(const struct cpl_map_request *req, int *rank_host,
                  struct cpl_error *err)
{
	if (cpl_clusters_map(req, rank_host, cpl_fhgreedy_assign, err))
		return -1;
	return cpl_map_refine(req, rank_host, err);
}

static int assign_mc(struct cpl_clusters *t, int *target_of,
                     struct cpl_error *err)
{
	if (cpl_fhgreedy_assign(t, target_of, err))
		return -1;
	return cpl_ptram_refine(t, target_of, t->n, true, err) < 0 ? -1 : 0;
}

const struct cpl_mapper cpl_mapper_fhgreedy_wh = {
        .name = "fhgreedy-wh",
        .summary = "fhgreedy, then swaps that lower the hop-bytes",
        .map = map_wh,
};

const struct cpl_mapper cpl_mapper_fhgreedy_mc = {
        .name = "fhgreedy-mc",
        .summary = "fhgreedy, then swaps that relieve the most loaded link",
        .assign = assign_mc,
};
