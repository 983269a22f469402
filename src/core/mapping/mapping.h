/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapping: which rank runs on which of the chosen nodes. One file per mapper,
 * one line in the table of mapping.c.
 */
#ifndef CPL_MAPPING_MAPPING_H
#define CPL_MAPPING_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "placement/decide.h"

struct cpl_map_request {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_comm *comm;  /* as recorded, directed */
	const struct cpl_comm *graph; /* cpl_comm_symmetric(comm) */
	int n_hosts;
	const int *host;   /* [n_hosts] node ids; the default order is block:
			    * host 0's slots first */
	const int *slots;  /* [n_hosts] ranks on each host; sum == ranks */
	const struct cpl_load *background; /* or NULL */
	enum cpl_objective objective;
	uint64_t seed;
	bool (*expired)(void *arg); /* as in cpl_decide_request */
	void *expired_arg;
};

struct cpl_mapper {
	const char *name;    /* "greedyallc" */
	const char *summary;
	/*
	 * Write rank_host[rank] = index into host[], exactly slots[h] ranks on
	 * host h. 0, or -1 with err. Pure function of the request.
	 */
	int (*map)(const struct cpl_map_request *req, int *rank_host,
		   struct cpl_error *err);
};

struct cpl_map_result {
	int *rank_host;      /* [ranks] index into host[] */
	bool kept_default;   /* the mapper was not better: default order */
	struct cpl_metrics before, after; /* with background */
	struct cpl_job_sums sums_before, sums_after;
};

/* NULL with err listing the names. "default" is another name of "linear". */
const struct cpl_mapper *cpl_mapper_find(const char *name,
					 struct cpl_error *err);
const struct cpl_mapper *const *cpl_mapper_all(void);

/*
 * Run a mapper and evaluate it against the default order; the result is never
 * worse than that by the objective, and where it ties the default order is
 * kept. req->graph may be NULL (it is then made here). Free with
 * cpl_map_result_free. 0, or -1 with err (unknown host, slots that do not add
 * up to the ranks, memory).
 */
int cpl_map(const struct cpl_mapper *mapper, const struct cpl_map_request *req,
	    struct cpl_map_result *out, struct cpl_error *err);
void cpl_map_result_free(struct cpl_map_result *result);

/* Block order: fill host 0, then host 1, ... */
extern const struct cpl_mapper cpl_mapper_linear;
/* Glantz, Meyerhenke, Noe (PDP 2015) with capacities; ties to the lowest rank
 * and the first host. O(ranks * (hosts + degree) + sum deg * hosts). */
extern const struct cpl_mapper cpl_mapper_greedyallc;

#endif
