/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binding: which CPUs each rank of one node gets, over the hwloc tree. One
 * file per algorithm, one line in the table of binding.c.
 */
#ifndef CPL_BINDING_BINDING_H
#define CPL_BINDING_BINDING_H

#include <hwloc.h>
#include <stdbool.h>

#include "signature/comm.h"

struct cpl_bind_request {
	hwloc_topology_t topology;
	hwloc_const_cpuset_t allowed; /* OS indexes this step may use; NULL:
				       * all of the topology */
	const struct cpl_comm *comm;  /* ranks of this node only, see
				       * cpl_comm_subset */
	int cores_per_rank;           /* whole cores given to a rank, >= 1 */
	bool by_pu; /* count PUs (hardware threads) in place of cores: ranks
		     * may share a core */
};

struct cpl_binder {
	const char *name; /* "treematch" */
	const char *summary;
	/*
	 * slot[r] = index of the core-set of rank r, a permutation into
	 * 0 .. n_slots - 1; slots are consecutive runs of cores_per_rank
	 * allowed cores in logical (tree) order. n_slots >= ranks. 0 or -1.
	 */
	int (*bind)(const struct cpl_bind_request *req, int n_slots,
		    int *slot, struct cpl_error *err);
};

struct cpl_bind_result {
	int ranks;
	hwloc_cpuset_t *cpuset; /* [ranks], OS indexes; all PUs of its cores */
	double cost;            /* sum over unordered pairs of bytes (both
				 * ways) * tree distance of their slots */
	double cost_default;    /* the same in packed order */
};

/* NULL with err listing the names. "default" is another name of "packed". */
const struct cpl_binder *cpl_binder_find(const char *name,
					 struct cpl_error *err);
const struct cpl_binder *const *cpl_binder_all(void);

/*
 * Distance of two slots: 2 * levels from the cores (by_pu: PUs) up to the
 * lowest object of the topology that holds both; levels without branches do
 * not count.
 *
 * Bind; never costs more than packed order (rank i on the i-th slot). Refused:
 * more ranks than slots. 0, or -1 with err. Free with cpl_bind_result_free.
 */
int cpl_bind(const struct cpl_binder *binder,
	     const struct cpl_bind_request *req, struct cpl_bind_result *out,
	     struct cpl_error *err);
void cpl_bind_result_free(struct cpl_bind_result *result);

/*
 * A topology from an hwloc XML file (path ends in .xml or holds a "/") or a
 * synthetic description ("pack:2 l3:2 core:4 pu:2"); NULL text: this machine.
 * 0, or -1 with err. The caller destroys it.
 */
int cpl_topology_load(const char *text, hwloc_topology_t *out,
		      struct cpl_error *err);

extern const struct cpl_binder cpl_binder_packed;
/* TreeMatch's grouping (Jeannot, Mercier, RR-8965 / Euro-Par 2010). */
extern const struct cpl_binder cpl_binder_treematch;

#endif
