/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binding: which CPUs each rank of one node gets, over the hwloc tree. Each
 * algorithm is a file, and a line in the list of binding.mk.
 */
/* Tests: anneal bisect cluster gpus near packed refine round_robin scatter
 * scotch treematch in test_binders; slots topology in test_binding
 * test_bind_uneven. */
#ifndef CPL_BINDING_BINDING_H
#define CPL_BINDING_BINDING_H

#include <hwloc.h>
#include <stdbool.h>

#include "base/registry.h"
#include "graph/comm.h"

/* What a pair of ranks weighs (RR-8269: size, msg, avg), both ways. */
enum cpl_bind_metric {
	CPL_BIND_BYTES,
	CPL_BIND_MESSAGES,
	CPL_BIND_AVERAGE, /* bytes per message, 0 without messages */
};

/* Members after by_pu may be left 0. */
struct cpl_bind_request {
	hwloc_topology_t topology;
	hwloc_const_cpuset_t allowed; /* OS indexes this step may use; NULL:
	                               * all of the topology */
	const struct cpl_comm *comm;  /* ranks of this node only, see
	                               * cpl_comm_subset */
	int cores_per_rank;           /* whole cores given to a rank, >= 1 */
	bool by_pu; /* count PUs (hardware threads) in place of cores: ranks
	             * may share a core */
	bool one_thread;      /* the first allowed thread of each core only */
	int ranks_per_core;   /* at most (by_pu; else it is one); 0: no limit */
	int ranks_per_socket; /* at most; 0: no limit */
	bool overcommit; /* more ranks than slots share them evenly, the first
	                  * slots taking one more */
	bool fill_domains; /* one memory domain after the other, see cpl_bind */
	enum cpl_bind_metric metric;
	/* [ranks] or NULL: CPUs that a rank should be within, such as those
	 * next to its GPU; NULL entry: anywhere. Kept by as many ranks as can,
	 * all but result.n_far. */
	const hwloc_const_cpuset_t *near;
	/* What "best" may spend, in entries and ranks looked at, about 2 ns
	 * each; then the best answer so far is taken, at the least
	 * TreeMatch's. A count, so that answers are the same everywhere. 0:
	 * all that the search has. */
	int64_t work;
};

/* Work for each rank at a step's launch, which waits for it: less than 2 ms for
 * 128 ranks. */
#define CPL_BIND_LAUNCH_WORK 5000

struct cpl_bind_problem;

struct cpl_binder {
	CPL_ENTRY;
	/*
	 * slot[r] = index of the core-set of rank r, a permutation into the
	 * problem's slots: runs of cores_per_rank allowed cores in logical
	 * (tree) order. There are at least as many slots as ranks. 0 or -1.
	 */
	int (*bind)(const struct cpl_bind_problem *problem, int *slot,
	            struct cpl_error *err);
	/* It goes by the order of all cores, not by what ranks exchange. */
	bool orders_cores;
};

/* Traffic between ranks whose lowest common object is on one level. */
struct cpl_bind_level {
	char name[32]; /* hwloc's, such as "Package"; "CPU set": shared slots */
	int distance;
	double bytes, messages; /* both ways */
};

struct cpl_bind_result {
	int ranks;
	hwloc_cpuset_t *cpuset; /* [ranks], OS indexes; all PUs of its cores */
	double cost;            /* sum over unordered pairs of metric (both
	                         * ways) * tree distance of their slots */
	double cost_default;    /* the same in packed order */
	hwloc_nodeset_t *nodeset; /* [ranks], NUMA nodes of its cores */
	int n_far;
	int n_levels;
	struct cpl_bind_level *level; /* [n_levels], from the root down */
};

/* In the order of lists; file after file of binding.mk. */
extern const struct cpl_registry cpl_binders;

/* The i-th, NULL after the last. */
const struct cpl_binder *cpl_binder_at(int i);

/* NULL with err listing the names. "default" is another name of "packed". */
const struct cpl_binder *cpl_binder_find(const char *name,
                                         struct cpl_error *err);
/* The same among those of a program that has more. */
const struct cpl_binder *cpl_binder_find_in(const struct cpl_registry *binders,
                                            const char *name,
                                            struct cpl_error *err);

/*
 * Distance of two slots: 2 * levels from the cores (by_pu: PUs) up to the
 * lowest object of the topology that holds both; levels without branches do
 * not count. With shared slots the slot is a level of its own.
 *
 * Slots are cut from the allowed cores in tree order. No slot spans two
 * objects of the lowest level for which enough slots are left that way.
 *
 * Where there are more slots than ranks, ranks have room for their memory: no
 * memory domain (cores with the same NUMA nodes) has more slots than it takes to
 * hold the ranks, such as two of each of eight domains for 16 ranks; within that the
 * ranks' traffic decides. Not with fill_domains, request.near, or an algorithm
 * that orders_cores.
 *
 * Bind; never costs more than packed order (rank i on the i-th slot; ranks
 * that are not near are moved in both). Refused: more ranks than slots without
 * overcommit. 0, or -1 with err. Free with cpl_bind_result_free.
 */
int cpl_bind(const struct cpl_binder *binder,
             const struct cpl_bind_request *req, struct cpl_bind_result *out,
             struct cpl_error *err);
/* The same, also where packed order costs less: to compare algorithms. */
int cpl_bind_as_is(const struct cpl_binder *binder,
                   const struct cpl_bind_request *req,
                   struct cpl_bind_result *out, struct cpl_error *err);
void cpl_bind_result_free(struct cpl_bind_result *result);

/*
 * A topology from an hwloc XML file (path ends in .xml, or holds a "/" and
 * starts with "<"), from a file with a synthetic description (any other text
 * with a "/"; lines from "#" on are comments), or from the description itself
 * ("pack:2 l3:2 core:4 pu:2"); NULL text: this machine. I/O devices are kept
 * from XML only. 0, or -1 with err. The caller destroys it.
 */
int cpl_topology_load(const char *text, hwloc_topology_t *out,
                      struct cpl_error *err);

/* All of this machine, also what this process may not use: slurmstepd is in
 * the cpuset of its step. With its GPUs where devices is true. As above. */
int cpl_topology_machine(bool devices, hwloc_topology_t *out,
                         struct cpl_error *err);

/*
 * CPUs next to each GPU (PCI display controllers and processing
 * accelerators) in PCI bus order. Returns their number, 0 when the topology
 * has none, or -1 with err. The sets belong to the topology; free(*near).
 */
int cpl_topology_gpus(hwloc_topology_t topology, hwloc_const_cpuset_t **near,
                      struct cpl_error *err);

extern const struct cpl_binder cpl_binder_packed;
/* Cyclic over the topmost parts (packages), in order within each. */
extern const struct cpl_binder cpl_binder_round_robin;
/* Cyclic on every level: consecutive ranks as far apart as can be. */
extern const struct cpl_binder cpl_binder_scatter;
/* TreeMatch (Jeannot, Mercier, Tessier, INRIA RR-8269). */
extern const struct cpl_binder cpl_binder_treematch;
/* Communication clusters of socket size (Rangel, Wong, Rexachs, Luque,
 * "Mapping Policies based on Application Signature ..."), algorithm 1. */
extern const struct cpl_binder cpl_binder_cluster;
/* Scotch's static mapping onto a tleaf. Only in programs that link
 * binding/scotch.c: the plugins do not. */
extern const struct cpl_binder cpl_binder_scotch;
/* All, and this one. */
extern const struct cpl_registry cpl_binders_and_scotch;
/* TreeMatch, clusters and packed order, each improved by swaps. */
extern const struct cpl_binder cpl_binder_best;

#endif
