/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapping decides which rank runs on which of the chosen nodes. Each mapper is
 * a file, and a line in the list of mapping.mk.
 */
/* Tests: * in test_mapper* test_mapping*; best* in test_best*; bundle* in
 * test_bundles; domain_* in test_domains; host_* quick in test_joint test_ports; cell_spread
 * group* replace in test_groups; link_sums ptram* in
 * test_ptram; rank_groups in test_rank_boxes; tile_option in test_tile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"
#include "graph/comm.h"
#include "graph/rank_grid.h"
#include "routing/routing.h"
#include "traffic/objective.h"

struct cpl_ceiling;
struct cpl_rank_groups;

struct cpl_map_request {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_comm *comm;  /* as recorded, directed */
	const struct cpl_comm *graph; /* cpl_comm_symmetric(comm) */
	int n_hosts;
	const int *host;   /* [n_hosts] node ids; in the default order ranks
			    * fill host 0's slots first */
	const int *slots;  /* [n_hosts] ranks on each host; sum == ranks for a
			    * mapper, >= ranks (>= weights) for cpl_map */
	/* [n_hosts] Indices into host[] in whose order cpl_map's default fills
	 * hosts; block order on host[] is then one more start. NULL: in the
	 * order of host[]. */
	const int *turn;
	const int *weight; /* [ranks] slots that a rank takes, > 0; NULL: one
			    * each; for cpl_map and cpl_map_run only */
	/* The groups in which ranks communicate, or NULL: not known. */
	const struct cpl_rank_grid *grid;
	const char *option; /* the text after a colon in the mapper's name, or
			     * NULL; see cpl_mapper_option */
	const struct cpl_load *background; /* or NULL */
	const struct cpl_load *rates; /* cpl_objective_by_time, or NULL */
	enum cpl_objective objective;
	/* The default mapper takes what exceeds it only for want of another; or
	 * NULL. */
	const struct cpl_ceiling *most;
	uint64_t seed;
	/* The evaluations that a search may make. 0: its default; INT64_MAX: it
	 * searches until `expired`. */
	int64_t work;
	/* As in cpl_decide_request, but several threads may call it at once. */
	bool (*expired)(void *arg);
	void *expired_arg;
	/* The seconds until `expired` says true, for searches that share them
	 * out; 0: not known. Where it is set, results depend on the machine's
	 * speed. */
	double seconds;
	/* From cpl_rank_groups_grow for these slots; NULL: made here. */
	const struct cpl_rank_groups *grown;
	const struct cpl_rank_groups *block; /* from cpl_rank_groups_blocks, or
	                                      * NULL */
	bool raw; /* cpl_map takes the mapper's own answer, whatever it comes
	           * to */
	int threads; /* 0 and 1: only the caller's; results are the same */
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
	/* Sets rank_host[rank] to an index into host[], with slots[h] ranks on
	 * host h. It depends on nothing but the request. Returns 0, or -1 with
	 * err. */
	int (*map)(const struct cpl_map_request *req, int *rank_host,
		   struct cpl_error *err);
	/* In place of map, for one cluster on each host (mapping/clusters.h):
	 * sets the targets of clusters, which are -1 before. Clusters that it
	 * leaves at -1 are placed afterwards. */
	int (*assign)(struct cpl_clusters *clusters, int *target_of,
	              struct cpl_error *err);
	bool refined; /* cpl_map does not refine its layouts */
	/* The mapper searches for as long as it may. It is not for comparing
	 * candidates, since each would only get the time that the others
	 * left. */
	bool endless;
	/* Checks the option's text: 0, or -1 with err. NULL: it takes none. */
	int (*check_option)(const char *option, struct cpl_error *err);
};

struct cpl_map_result {
	int *rank_host;      /* [ranks] index into host[] */
	bool kept_default;   /* nothing was better than the default order */
	struct cpl_metrics before, after; /* with background */
	struct cpl_job_sums sums_before, sums_after;
};

/* All mappers of the program, in the order of lists: file after file of
 * mapping.mk. In commplaced those of the lab are missing. */
extern const struct cpl_registry cpl_mappers;
/* The names of commplaced's mappers, and of those that it lacks. These entries
 * are names only, not struct cpl_mapper. */
extern const struct cpl_registry cpl_mapper_names, cpl_mappers_lacking;
/* The entry of that name in either kind of registry; "default" and an option
 * after a colon are allowed. NULL with err, which lists the names.
 * O(entries). */
const struct cpl_entry *cpl_mapper_entry(const struct cpl_registry *mappers,
                                         const char *name,
                                         struct cpl_error *err);

/* The i-th mapper, or NULL after the last. */
const struct cpl_mapper *cpl_mapper_at(int i);

/* Finds a mapper by "name" or "name:option"; "default" is another name of
 * "linear". NULL with err, which lists the names or says what is wrong with the
 * option. */
const struct cpl_mapper *cpl_mapper_find(const char *name,
					 struct cpl_error *err);
/* The same among the mappers of a program that has more of them. */
const struct cpl_mapper *cpl_mapper_find_in(const struct cpl_registry *mappers,
					    const char *name,
					    struct cpl_error *err);
/* The text after the first colon of such a name, or NULL; points into name. */
const char *cpl_mapper_option(const char *name);

/* Maps a request of as many slots as ranks. Returns 0, or -1 with err. */
int cpl_mapper_map(const struct cpl_mapper *mapper,
		   const struct cpl_map_request *req, int *rank_host,
		   struct cpl_error *err);

/* Checks that the network has the hosts and that there are slots enough for the
 * ranks. Returns 0, or -1 with err, in O(hosts + ranks). */
int cpl_map_check(const struct cpl_map_request *req, struct cpl_error *err);

/* Makes the mapper's own layout, without refinement, with at most slots[h] of
 * weight on host h. The mapper sees spare slots as ranks without traffic and,
 * of ranks with weights, one cluster gathered for each host. req->graph must be
 * set. Returns 0, or -1 with err. */
int cpl_map_run(const struct cpl_mapper *mapper,
		const struct cpl_map_request *req, int *rank_host,
		struct cpl_error *err);

/* Runs a mapper (except linear, which is the default order), refines the best
 * of its answer, the default order, block order on host[] and block order on
 * the hosts by node, and takes the best of all by the objective; among equals
 * the default order. req->graph may be NULL; it is then made here. Returns 0,
 * or -1 with err (unknown host, too few slots, a mapper that cannot do the job,
 * memory). Free the result with cpl_map_result_free. */
int cpl_map(const struct cpl_mapper *mapper, const struct cpl_map_request *req,
	    struct cpl_map_result *out, struct cpl_error *err);
void cpl_map_result_free(struct cpl_map_result *result);

/* Block order: fills host 0, then host 1, ... Others are in
 * mapping/mappers.h. */
extern const struct cpl_mapper cpl_mapper_linear;
