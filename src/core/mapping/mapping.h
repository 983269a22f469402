/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapping: which rank runs on which of the chosen nodes. Each
 * mapper is a file, and a line in the list of mapping.mk.
 */
/* Tests: * in test_mapper* test_mapping*; best* in test_best*; bundle* in
 * test_bundles; host_* quick in test_joint test_ports; link_sums ptram* in
 * test_ptram; rank_groups in test_rank_boxes; tile_option in test_tile. */
#ifndef CPL_MAPPING_MAPPING_H
#define CPL_MAPPING_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"
#include "graph/comm.h"
#include "routing/routing.h"
#include "traffic/objective.h"

struct cpl_rank_groups;

struct cpl_map_request {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_comm *comm;  /* as recorded, directed */
	const struct cpl_comm *graph; /* cpl_comm_symmetric(comm) */
	int n_hosts;
	const int *host;   /* [n_hosts] node ids; the default order is block:
			    * host 0's slots first */
	const int *slots;  /* [n_hosts] ranks on each host; sum == ranks for a
			    * mapper, >= ranks (>= weights) for cpl_map */
	/* [n_hosts] indices into host[]: for cpl_map the default order is block
	 * in this turn, and that of host[] another one to begin with. NULL: it
	 * is that of host[]. */
	const int *turn;
	const int *weight; /* [ranks] slots that a rank takes, > 0; NULL: one
			    * each. For cpl_map and cpl_map_run only */
	const char *option; /* what a mapper's name has after a colon, or NULL;
			     * see cpl_mapper_option */
	const struct cpl_load *background; /* or NULL */
	const struct cpl_load *rates; /* cpl_objective_by_time, or NULL */
	enum cpl_objective objective;
	uint64_t seed;
	/* Evaluations a search may take, 0: its default; INT64_MAX: search
	 * until `expired`. */
	int64_t work;
	/* As in cpl_decide_request; called from several threads at once when
	 * there are. */
	bool (*expired)(void *arg);
	void *expired_arg;
	/* Seconds until `expired` says so, for searches that share them out, 0:
	 * not known. Where it is set results depend on the machine's speed. */
	double seconds;
	/* Those of cpl_rank_groups_grow for these slots, or NULL: made where they
	 * are needed. */
	const struct cpl_rank_groups *grown;
	const struct cpl_rank_groups *block; /* of cpl_rank_groups_blocks */
	int threads; /* 0 and 1: the caller's alone; never changes results */
};

/* Has the caller's budget run out? */
static inline bool cpl_map_expired(const struct cpl_map_request *req)
{
	return req->expired && req->expired(req->expired_arg);
}

struct cpl_clusters;

enum cpl_mapper_flags {
	/* The mapper looks at network, hosts and slots only, which may be all
	 * that the request has: it is for jobs whose traffic is not known. */
	CPL_MAPPER_HOSTS = 1,
};

struct cpl_mapper {
	CPL_ENTRY;
	/* rank_host[rank] = index into host[], slots[h] ranks on host h. 0, or
	 * -1 with err. Pure function of the request. */
	int (*map)(const struct cpl_map_request *req, int *rank_host,
		   struct cpl_error *err);
	/* Instead, for one cluster on each host (mapping/clusters.h): the
	 * targets of clusters, all -1 before; those left so are filled in. */
	int (*assign)(struct cpl_clusters *clusters, int *target_of,
	              struct cpl_error *err);
	bool refined; /* cpl_map leaves its layouts as they are */
	/* The mapper searches for as long as it may: it is not for comparing
	 * candidates, each of which would get the time that the others left. */
	bool endless;
	/* Is that text well-formed? 0, or -1 with err. NULL: takes none. */
	int (*check_option)(const char *option, struct cpl_error *err);
};

struct cpl_map_result {
	int *rank_host;      /* [ranks] index into host[] */
	bool kept_default;   /* nothing was better than the default order */
	struct cpl_metrics before, after; /* with background */
	struct cpl_job_sums sums_before, sums_after;
};

/* The mappers in the order of lists, file after file of mapping.mk: all of
 * them; in commplaced those of the lab are missing. */
extern const struct cpl_registry cpl_mappers;
/* The names of commplaced's mappers, and of those that it lacks: these entries
 * are no mappers. */
extern const struct cpl_registry cpl_mapper_names, cpl_mappers_lacking;
/* The entry of that name, "default" and an option behind a colon allowed, of
 * either; NULL with err, which lists them. O(entries). */
const struct cpl_entry *cpl_mapper_entry(const struct cpl_registry *mappers,
                                         const char *name,
                                         struct cpl_error *err);

/* The i-th, NULL after the last. */
const struct cpl_mapper *cpl_mapper_at(int i);

/* By name, or "name:option". NULL with err listing the names, or saying what
 * is wrong with the option. "default" is another name of "linear". */
const struct cpl_mapper *cpl_mapper_find(const char *name,
					 struct cpl_error *err);
/* The same among the mappers of a program that has more. */
const struct cpl_mapper *cpl_mapper_find_in(const struct cpl_registry *mappers,
					    const char *name,
					    struct cpl_error *err);
/* The text after the first colon of such a name, or NULL; points into name. */
const char *cpl_mapper_option(const char *name);

/* The mapper's layout for a request of as many slots as ranks. 0, or -1 with
 * err. */
int cpl_mapper_map(const struct cpl_mapper *mapper,
		   const struct cpl_map_request *req, int *rank_host,
		   struct cpl_error *err);

/* Does the network have the hosts, and are there slots enough for the ranks? 0,
 * or -1 with err. O(hosts + ranks). */
int cpl_map_check(const struct cpl_map_request *req, struct cpl_error *err);

/*
 * The mapper's own layout, without refinement, at most slots[h] of weight on
 * host h. Spare slots are given to the mapper as ranks without traffic; of
 * ranks with weights it sees clusters, one gathered for each host. req->graph
 * must be set. 0, or -1 with err.
 */
int cpl_map_run(const struct cpl_mapper *mapper,
		const struct cpl_map_request *req, int *rank_host,
		struct cpl_error *err);

/*
 * Run a mapper (but for linear: that is the default order), refine the best of
 * its answer, the default order, block order on host[] and on the hosts by node,
 * and take what is best by the objective; of equals the default order.
 * req->graph may be NULL (it is then made here). Free with cpl_map_result_free.
 * 0, or -1 with err (unknown host, too few slots, a mapper that cannot do the
 * job, memory).
 */
int cpl_map(const struct cpl_mapper *mapper, const struct cpl_map_request *req,
	    struct cpl_map_result *out, struct cpl_error *err);
void cpl_map_result_free(struct cpl_map_result *result);

/* Block order: fill host 0, then host 1, ... The others: mapping/mappers.h. */
extern const struct cpl_mapper cpl_mapper_linear;

#endif
