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
	const int *slots;  /* [n_hosts] ranks on each host; sum == ranks for a
			    * mapper, >= ranks (>= weights) for cpl_map */
	const int *weight; /* [ranks] slots that a rank takes, > 0; NULL: one
			    * each. For cpl_map and cpl_map_run only */
	const char *option; /* what a mapper's name has after a colon, or NULL;
			     * see cpl_mapper_option */
	const struct cpl_load *background; /* or NULL */
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
	int threads; /* 0 and 1: the caller's alone; never changes results */
};

struct cpl_tasks;

struct cpl_mapper {
	const char *name;    /* "greedyallc" */
	const char *summary;
	/*
	 * Write rank_host[rank] = index into host[], exactly slots[h] ranks on
	 * host h. 0, or -1 with err. Pure function of the request.
	 */
	int (*map)(const struct cpl_map_request *req, int *rank_host,
		   struct cpl_error *err);
	/*
	 * Instead of map, for one task on each host (mapping/tasks.h): the
	 * places of tasks, place_of[n] all -1 before; those left so are filled
	 * in, and ranks follow their tasks. 0, or -1 with err.
	 */
	int (*place)(struct cpl_tasks *tasks, int *place_of,
		     struct cpl_error *err);
	/* Is that text well-formed? 0, or -1 with err. NULL: takes none. */
	int (*check_option)(const char *option, struct cpl_error *err);
};

struct cpl_map_result {
	int *rank_host;      /* [ranks] index into host[] */
	bool kept_default;   /* the mapper was not better: default order */
	struct cpl_metrics before, after; /* with background */
	struct cpl_job_sums sums_before, sums_after;
};

/* By name, or "name:option". NULL with err listing the names, or saying what
 * is wrong with the option. "default" is another name of "linear". */
const struct cpl_mapper *cpl_mapper_find(const char *name,
					 struct cpl_error *err);
/* The text after the first colon of such a name, or NULL; points into name. */
const char *cpl_mapper_option(const char *name);
const struct cpl_mapper *const *cpl_mapper_all(void);

/* What the mapper's map or place makes of a request whose slots are as many as
 * its ranks: rank_host[ranks]. 0, or -1 with err. */
int cpl_mapper_map(const struct cpl_mapper *mapper,
		   const struct cpl_map_request *req, int *rank_host,
		   struct cpl_error *err);

/* Hosts the network has, slots enough for the ranks? 0, or -1 with err. */
int cpl_map_check(const struct cpl_map_request *req, struct cpl_error *err);

/*
 * The mapper's own layout, without refinement, where there may be more slots
 * than ranks and ranks may weigh differently: at most slots[h] of weight on
 * host h. Spare slots are given to the mapper as ranks without traffic. Ranks
 * that weigh differently are first gathered into one part for each host, and
 * parts (one rank each) are what the mapper sees. req->graph must be set. 0, or
 * -1 with err.
 */
int cpl_map_run(const struct cpl_mapper *mapper,
		const struct cpl_map_request *req, int *rank_host,
		struct cpl_error *err);

/*
 * Run a mapper and evaluate it against the default order; the result is never
 * worse than that by the objective, and where it ties the default order is
 * kept. req->graph may be NULL (it is then made here). Free with
 * cpl_map_result_free. 0, or -1 with err (unknown host, too few slots, a mapper
 * that cannot do the job, memory).
 */
int cpl_map(const struct cpl_mapper *mapper, const struct cpl_map_request *req,
	    struct cpl_map_result *out, struct cpl_error *err);
void cpl_map_result_free(struct cpl_map_result *result);

/* Block order: fill host 0, then host 1, ... */
extern const struct cpl_mapper cpl_mapper_linear;
/* Glantz, Meyerhenke, Noe (PDP 2015) with capacities; ties to the lowest rank
 * and the first host. O(ranks * (hosts + degree) + sum deg * hosts). */
extern const struct cpl_mapper cpl_mapper_greedyallc;
/*
 * Default order, grids and tori found in the pattern and folded onto the
 * machine, bisection of ranks and machine, greedyallc, and of the other mappers
 * those that are cheap enough for the work or the time there is (greedy, rcm,
 * fhgreedy, greedyallc from a corner, treematch, tile, sfc, topoaware-1, pacmap,
 * bipartition, recursive, ptram): no worse than any that was run. Linear maps of
 * rank bits to host bits; then rounds of annealing of hop-bytes (nodes as a
 * whole, then ranks) and of swaps that lower the largest link load, with the
 * network's own routing, each twice as long as the one before and in several
 * chains side by side. Deterministic for a seed and a work limit, whatever the
 * number of threads; ends early when every message goes over one link. The
 * layout returned is the best by the objective, but for max-congestion the one
 * of the least product of largest congestion and squared hop-bytes among those
 * that are no worse than the default order.
 */
extern const struct cpl_mapper cpl_mapper_best;

/*
 * The others are in their papers for one task on each node: ranks are gathered
 * into one task per host first (mapping/tasks.h). n: hosts, d: degree. Ties go
 * to the lowest task, then the first host.
 */
/* Ranks on random slots. O(ranks). */
extern const struct cpl_mapper cpl_mapper_random;
/* Bokhari (IEEE ToC 1981): pairwise interchange for the number of partners one
 * hop apart, with random jumps. O(n^2 d) a pass, fixed work at the most. */
extern const struct cpl_mapper cpl_mapper_mapper;
/* MinMD (Besmer 2016): pairs by weight, the first in the centre, each later
 * task near its partner. O(entries log entries + n^2). */
extern const struct cpl_mapper cpl_mapper_minmd;
/* TopoLB (Agarwal, Sharma, Kale, IPDPS 2006), estimates of order 1, 2, 3; the
 * table is kept up to date: O(n^2 d), order 3 O(n^3). At most 8,192 hosts. */
extern const struct cpl_mapper cpl_mapper_topoaware_1, cpl_mapper_topoaware_2,
	cpl_mapper_topoaware_3;
/* Generic greedy (Hoefler, Snir, ICS 2011). O(n^2 + entries log entries). */
extern const struct cpl_mapper cpl_mapper_greedy;
/* Deveci, Kaya, Ucar, Catalyurek (IPDPS 2015), the better of N_BFS 0 and 1; -wh
 * with swaps for weighted hops (those of cpl_map_refine), -mc with swaps that
 * lower the largest congestion while there are any. O(n^2 d). */
extern const struct cpl_mapper cpl_mapper_fhgreedy, cpl_mapper_fhgreedy_wh,
	cpl_mapper_fhgreedy_mc;
/* Depth first along heaviest edges (Wei 2009), each component of the graph from
 * its start. O(n^2 + n d^2). */
extern const struct cpl_mapper cpl_mapper_udfs;
/* Reverse Cuthill-McKee orders of tasks and of all routers of the network put
 * side by side (Hoefler, Snir, ICS 2011). O(links + entries * d). */
extern const struct cpl_mapper cpl_mapper_rcm;
/* Recursive bisection of tasks and of hosts, first half to first half, without
 * orientation (Wu, Xiong, Lan 2015). O((entries + links) log n).
 */
extern const struct cpl_mapper cpl_mapper_bipartition;
/* The same as LibTopoMap has it (Hoefler, Snir, ICS 2011): the ranks themselves
 * are bisected, in the sizes of the hosts' halves; links weigh their bandwidth,
 * routers without hosts of the job connect others. O((entries + links) log n).
 */
extern const struct cpl_mapper cpl_mapper_recursive;
/* TreeMatch (Jeannot, Mercier, Tessier, RR-8269) on the tree above the hosts:
 * groups, chassis and routers of a dragonfly, sub-trees of a fat tree, the
 * switches of a graph that is a tree, boards of a HAEC Box, routers of others.
 * Groups of one size where the tree is even, else of the sizes that it has.
 * O(30,000 groups) at each level, or O(entries log entries). */
extern const struct cpl_mapper cpl_mapper_treematch;
/* Rubik's tiles (Bhatele and others, SC 2012; Jain 2016, 3.1) and the orders of
 * Blue Gene/Q; cpl_mapper_find's option says which, see mapping/tile.h. */
extern const struct cpl_mapper cpl_mapper_tile;
/* Static mapping by Scotch. Only in programs that link mapping/scotch.c: the
 * plugins do not, since Scotch's code is not ours to vouch for in slurmctld. */
extern const struct cpl_mapper cpl_mapper_scotch;
/* Hilbert order of a torus's routers, and of the tasks where their graph is a
 * grid (else their own order). Other networks: hosts by node id. O(n log n). */
extern const struct cpl_mapper cpl_mapper_sfc;
/* PaCMap (Tuncer, Leung, Coskun, ICS 2015), its mapping part on given hosts.
 * O(n * frame * d + centres * entries log n). */
extern const struct cpl_mapper cpl_mapper_pacmap;
/* PTRAM (Mirsadeghi, Afsahi): greedy on the hybrid metric of the network's own
 * routing, relative to the default order; -refine: up to 10 swaps that lower
 * the largest congestion. Candidate nodes are evaluated by several threads
 * where there is enough to do. O(n^2 d * route). */
extern const struct cpl_mapper cpl_mapper_ptram, cpl_mapper_ptram_refine;
/* Branch and bound on hop-bytes; above CPL_ASTAR_TASKS_MAX hosts the default
 * order. The best found within 2,000,000 steps, which suffice for 9 hosts. */
#define CPL_ASTAR_TASKS_MAX 12
extern const struct cpl_mapper cpl_mapper_astar;

#endif
