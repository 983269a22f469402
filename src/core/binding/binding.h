/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binding decides which CPUs each rank of a node gets, over the hwloc tree.
 * Each algorithm is a file, and a line in the list of binding.mk.
 */
/* Tests: anneal bisect cluster near packed refine round_robin scatter scotch
 * treematch in test_binders; slots topology in test_binding
 * test_bind_uneven. */
#pragma once

#include <hwloc.h>
#include <stdbool.h>

#include "base/registry.h"
#include "graph/comm.h"

/* The weight of a pair of ranks, both directions (RR-8269: size, msg, avg). */
enum cpl_bind_metric {
	CPL_BIND_BYTES,
	CPL_BIND_MESSAGES,
	CPL_BIND_AVERAGE, /* bytes per message, 0 without messages */
};

/* Members after by_pu may stay 0. */
struct cpl_bind_request {
	hwloc_topology_t topology;
	hwloc_const_cpuset_t allowed; /* OS indices that this step may use;
	                               * NULL: all of the topology */
	const struct cpl_comm *comm;  /* only the ranks of this node, see
	                               * cpl_comm_subset */
	int cores_per_rank;           /* whole cores given to a rank, >= 1 */
	bool by_pu; /* PUs (hardware threads) are counted in place of cores, so
	             * that ranks may share a core */
	bool one_thread;      /* only the first allowed thread of each core is
	                       * used */
	int ranks_per_core;   /* at most (by_pu; else one); 0: no limit */
	int ranks_per_socket; /* at most; 0: no limit */
	bool overcommit; /* more ranks than slots share them evenly; the first
	                  * slots take one more */
	bool fill_domains; /* memory domains are filled one by one, see
	                    * cpl_bind */
	enum cpl_bind_metric metric;
	/* [ranks] or NULL: the CPUs that a rank should be within, such as those
	 * next to its GPU; a NULL entry means anywhere. All ranks but
	 * result.n_far are bound so, which is as many as can be. */
	const hwloc_const_cpuset_t *near;
	/* The entries and ranks that "best" may look at, about 2 ns each; then
	 * it takes the best answer so far, TreeMatch's at least. A count makes
	 * answers the same everywhere. 0: no limit but the search's own. */
	int64_t work;
};

/* A launch waits for this work of each rank: less than 2 ms for 128 ranks. */
#define CPL_BIND_LAUNCH_WORK 5000

struct cpl_bind_problem;

struct cpl_binder {
	CPL_ENTRY;
	/* Sets slot[r], the index of the core-set of rank r; no two ranks have
	 * the same. Slots are runs of cores_per_rank allowed cores in logical
	 * (tree) order, at least as many as ranks. Returns 0, or -1 with
	 * err. */
	int (*bind)(const struct cpl_bind_problem *problem, int *slot,
	            struct cpl_error *err);
	/* It follows the order of all cores, not the traffic of ranks. */
	bool orders_cores;
};

/* The traffic between ranks whose lowest common object is on one level. */
struct cpl_bind_level {
	char name[32]; /* from hwloc, such as "Package"; "CPU set": shared
	                * slots */
	int distance;
	double bytes, messages; /* both directions */
};

struct cpl_bind_result {
	int ranks;
	hwloc_cpuset_t *cpuset; /* [ranks] OS indices of all PUs of its cores */
	double cost;            /* sum over unordered pairs of metric (both
	                         * directions) * tree distance of their slots */
	double cost_default;    /* the same in packed order */
	/* [ranks] NUMA nodes of its cores, without the memory of GPUs, which
	 * hwloc has among them where it is told to. */
	hwloc_nodeset_t *nodeset;
	int n_far;
	int n_levels;
	struct cpl_bind_level *level; /* [n_levels] from the root down */
};

/* The binders in the order of lists: file after file of binding.mk. */
extern const struct cpl_registry cpl_binders;

/* The i-th binder, or NULL after the last. */
const struct cpl_binder *cpl_binder_at(int i);

/* The binder of that name, or NULL with err, which lists the names. "default"
 * is another name of "packed". */
const struct cpl_binder *cpl_binder_find(const char *name,
                                         struct cpl_error *err);
/* The same among the binders of a program that has more of them. */
const struct cpl_binder *cpl_binder_find_in(const struct cpl_registry *binders,
                                            const char *name,
                                            struct cpl_error *err);

/*
 * Binds ranks at no more cost than packed order (rank i on the i-th slot; ranks
 * that are not near are moved in both).
 *
 * The distance of two slots is 2 * the levels from the cores (by_pu: PUs) up to
 * the lowest object of the topology that holds both; levels without branches do
 * not count. Where ranks share slots, the slot is a level of its own.
 *
 * Slots are cut from the allowed cores in tree order. No slot spans two objects
 * of the lowest level for which enough slots are left that way.
 *
 * Where there are more slots than ranks, ranks get room for their memory: no
 * memory domain (cores with the same NUMA nodes) has more slots than it takes
 * to hold the ranks, such as two in each of eight domains for 16 ranks; within
 * that limit the ranks' traffic decides. This is not so with fill_domains,
 * request.near, or an algorithm that orders_cores.
 *
 * More ranks than slots are refused without overcommit. Returns 0, or -1 with
 * err. Free the result with cpl_bind_result_free.
 */
int cpl_bind(const struct cpl_binder *binder,
             const struct cpl_bind_request *req, struct cpl_bind_result *out,
             struct cpl_error *err);
/* The same even where packed order costs less, to compare algorithms. */
int cpl_bind_as_is(const struct cpl_binder *binder,
                   const struct cpl_bind_request *req,
                   struct cpl_bind_result *out, struct cpl_error *err);
void cpl_bind_result_free(struct cpl_bind_result *result);

/* Makes a topology from an hwloc XML file (the path ends in .xml, or has a "/"
 * and the file starts with "<"), from a file with a synthetic description (any
 * other text with a "/"; lines from "#" on are comments), or from the
 * description itself ("pack:2 l3:2 core:4 pu:2"). NULL stands for this machine.
 * I/O devices are kept from XML only. Returns 0, or -1 with err; the caller
 * destroys the topology. */
int cpl_topology_load(const char *text, hwloc_topology_t *out,
                      struct cpl_error *err);

/* Makes the topology of all of this machine, even of what this process may not
 * use, since slurmstepd is in the cpuset of its step. With `devices` it has the
 * GPUs. Returns as above. */
int cpl_topology_machine(bool devices, hwloc_topology_t *out,
                         struct cpl_error *err);

extern const struct cpl_binder cpl_binder_packed;
/* Goes round the topmost parts (packages), in order within each. */
extern const struct cpl_binder cpl_binder_round_robin;
/* Goes round the parts of every level: consecutive ranks are far apart. */
extern const struct cpl_binder cpl_binder_scatter;
/* TreeMatch (Jeannot, Mercier, Tessier, INRIA RR-8269). */
extern const struct cpl_binder cpl_binder_treematch;
/* Makes communication clusters of socket size (Rangel, Wong, Rexachs, Luque,
 * "Mapping Policies based on Application Signature ..."), by algorithm 1. */
extern const struct cpl_binder cpl_binder_cluster;
/* Scotch's static mapping onto a tleaf. Only programs that link
 * binding/scotch.c have it; the plugins do not. */
extern const struct cpl_binder cpl_binder_scotch;
/* All binders, this one included. */
extern const struct cpl_registry cpl_binders_and_scotch;
/* TreeMatch, clusters and packed order, each improved by swaps. */
extern const struct cpl_binder cpl_binder_best;
