/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappers: what each implements, and its cost. A program finds them by name
 * (cpl_mapper_find), so that a new one needs no line here.
 */
#ifndef CPL_MAPPING_MAPPERS_H
#define CPL_MAPPING_MAPPERS_H

#include "mapping/mapping.h"

/* Glantz, Meyerhenke, Noe (PDP 2015) with capacities; ties to the lowest rank
 * and the first host. Where a busiest link is what counts, cpl_map_repair
 * follows. O(ranks * (hosts + degree) + sum deg * hosts), and 50 ms. */
extern const struct cpl_mapper cpl_mapper_greedyallc;
/*
 * Default order, grids and tori found in the pattern and folded onto the
 * machine, bisection of ranks and machine, greedyallc, and those other mappers
 * that are cheap enough for the work or the time there is; linear maps of rank
 * bits to host bits; then rounds of annealing of hop-bytes (nodes as a whole,
 * then ranks) and of swaps that lower the largest link load, in several chains
 * side by side. Deterministic for a seed and a work limit, whatever the number
 * of threads; ends early when every message goes over one link. The best by the
 * objective, but for max-congestion by cpl_best_better among those that are no
 * worse than the default order.
 */
extern const struct cpl_mapper cpl_mapper_best;

/*
 * The others are in their papers for one cluster on each node: ranks are
 * gathered into one cluster per host first (mapping/clusters.h). n: hosts, d:
 * degree. Ties go to the lowest cluster, then the first host.
 */
/* Ranks on random slots. O(ranks). */
extern const struct cpl_mapper cpl_mapper_random;
/* Bokhari (IEEE ToC 1981): pairwise interchange for the number of partners one
 * hop apart, with random jumps. O(n^2 d) a pass, fixed work at the most. */
extern const struct cpl_mapper cpl_mapper_mapper;
/* MinMD (Besmer 2016): pairs by weight, the first in the centre, each later
 * cluster near its partner. O(entries log entries + n^2). */
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
/* Reverse Cuthill-McKee orders of clusters and of all routers of the network
 * put side by side (Hoefler, Snir, ICS 2011). O(links + entries * d). */
extern const struct cpl_mapper cpl_mapper_rcm;
/* Recursive bisection of clusters and of hosts, first half to first half,
 * without orientation (Wu, Xiong, Lan 2015). O((entries + links) log n).
 */
extern const struct cpl_mapper cpl_mapper_bipartition;
/* The same as LibTopoMap has it (Hoefler, Snir, ICS 2011): the ranks themselves
 * are bisected, in the sizes of the hosts' halves; links weigh their bandwidth,
 * routers without hosts of the job connect others. O((entries + links) log n).
 */
extern const struct cpl_mapper cpl_mapper_recursive;
/* TreeMatch (Jeannot, Mercier, Tessier, RR-8269) on the tree above the hosts:
 * the network's levels, boxes of a torus, switches of a graph that is a tree,
 * else routers. O(30,000 groups) at each level, or O(entries log entries). */
extern const struct cpl_mapper cpl_mapper_treematch;
/* Rubik's tiles (Bhatele and others, SC 2012; Jain 2016, 3.1) and the orders of
 * Blue Gene/Q; cpl_mapper_find's option says which, see mapping/tile.h. */
extern const struct cpl_mapper cpl_mapper_tile;
/* Static mapping by Scotch. Only in programs that link mapping/scotch.c: the
 * plugins do not, since nobody here can vouch for Scotch's code inside
 * slurmctld. */
extern const struct cpl_mapper cpl_mapper_scotch;
/* All, and this one. */
extern const struct cpl_registry cpl_mappers_and_scotch;
/* Hilbert order of a torus's routers, and of the clusters where their graph is
 * a grid (else their own order). Other networks: hosts by node id. O(n log n).
 */
extern const struct cpl_mapper cpl_mapper_sfc;
/* Ranks in blocks on the hosts in an order in which neighbours are near each
 * other, whatever the traffic: along the Hilbert curve of a torus, back and
 * forth through the units of each level elsewhere, along the links of a graph.
 * O(n log n), of a graph O(links + n). */
extern const struct cpl_mapper cpl_mapper_network_order;
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
