/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappers, what each implements, and its cost. A program finds them by name
 * (cpl_mapper_find), so that a new one needs no line here.
 */
#pragma once

#include "mapping/mapping.h"

/* GreedyALLC (Glantz, Meyerhenke, Noe, PDP 2015) with capacities; ties go to
 * the lowest rank and the first host. Where the objective is a busiest link,
 * cpl_map_repair follows. O(ranks * (hosts + degree) + sum deg * hosts), and 50
 * ms. */
extern const struct cpl_mapper cpl_mapper_greedyallc;
/*
 * A portfolio that takes the best of many starts and improves it. Starts are
 * the default order, grids and tori found in the pattern and folded onto the
 * machine, bisection of ranks and machine, greedyallc, and those other mappers
 * that are cheap enough for the work or the time there is. Linear maps of rank
 * bits to host bits follow, then rounds of annealing of hop-bytes (nodes as a
 * whole, then ranks) and of swaps that lower the largest link load, in several
 * chains side by side.
 *
 * It depends on the seed and the work limit, not on the number of threads, and
 * ends early when every message goes over one link. "Best" is by the objective,
 * but for max-congestion by cpl_best_better among layouts no worse than the
 * default order.
 */
extern const struct cpl_mapper cpl_mapper_best;

/* The papers of the following mappers put one cluster on each node, so ranks
 * are first gathered into one cluster per host (mapping/clusters.h). In their
 * costs n is the number of hosts, d the degree. Ties go to the lowest cluster,
 * then to the first host. */
/* Puts ranks on random slots. O(ranks). */
extern const struct cpl_mapper cpl_mapper_random;
/* Bokhari (IEEE ToC 1981): pairwise interchange for the number of partners one
 * hop apart, with random jumps. O(n^2 d) for a pass, with a limit on all
 * work. */
extern const struct cpl_mapper cpl_mapper_mapper;
/* MinMD (Besmer 2016) takes pairs by weight, the first one in the centre, and
 * puts each later cluster near its partner. O(entries log entries + n^2). */
extern const struct cpl_mapper cpl_mapper_minmd;
/* TopoLB (Agarwal, Sharma, Kale, IPDPS 2006) with estimates of order 1, 2 and
 * 3, whose table is kept up to date. O(n^2 d), order 3 O(n^3); at most 8,192
 * hosts. */
extern const struct cpl_mapper cpl_mapper_topoaware_1, cpl_mapper_topoaware_2,
	cpl_mapper_topoaware_3;
/* Generic greedy (Hoefler, Snir, ICS 2011). O(n^2 + entries log entries). */
extern const struct cpl_mapper cpl_mapper_greedy;
/* Deveci, Kaya, Ucar, Catalyurek (IPDPS 2015), the better of N_BFS 0 and 1; -wh
 * adds swaps for weighted hops (cpl_map_refine), -mc swaps that lower the
 * largest congestion as long as there are any. O(n^2 d). */
extern const struct cpl_mapper cpl_mapper_fhgreedy, cpl_mapper_fhgreedy_wh,
	cpl_mapper_fhgreedy_mc;
/* Goes depth first along heaviest edges (Wei 2009), each component of the graph
 * from its start. O(n^2 + n d^2). */
extern const struct cpl_mapper cpl_mapper_udfs;
/* Puts reverse Cuthill-McKee orders of clusters and of all the network's
 * routers side by side (Hoefler, Snir, ICS 2011). O(links + entries * d). */
extern const struct cpl_mapper cpl_mapper_rcm;
/* Bisects clusters and hosts recursively and puts first half on first half,
 * without orientation (Wu, Xiong, Lan 2015). O((entries + links) log n). */
extern const struct cpl_mapper cpl_mapper_bipartition;
/* Recursive bisection as in LibTopoMap (Hoefler, Snir, ICS 2011): the ranks
 * themselves are bisected, in the sizes of the hosts' halves; links weigh their
 * bandwidth, and routers without hosts of the job connect others. O((entries +
 * links) log n). */
extern const struct cpl_mapper cpl_mapper_recursive;
/* TreeMatch (Jeannot, Mercier, Tessier, RR-8269) on the tree above the hosts:
 * the network's levels, boxes of a torus, switches of a graph that is a tree,
 * else routers. O(30,000 groups) at each level, or O(entries log entries). */
extern const struct cpl_mapper cpl_mapper_treematch;
/* Rubik's tiles (Bhatele and others, SC 2012; Jain 2016, 3.1) and the orders of
 * Blue Gene/Q; the option after the name says which, see mapping/tile.h. */
extern const struct cpl_mapper cpl_mapper_tile;
/* Static mapping by Scotch. Only programs that link mapping/scotch.c have it;
 * the plugins do not, since nobody here can vouch for Scotch's code in
 * slurmctld. */
extern const struct cpl_mapper cpl_mapper_scotch;
/* All mappers, this one included. */
extern const struct cpl_registry cpl_mappers_and_scotch;
/* Puts a torus's routers in Hilbert order, and the clusters too where their
 * graph is a grid (else in their own order). On other networks hosts go by node
 * id. O(n log n). */
extern const struct cpl_mapper cpl_mapper_sfc;
/* Puts ranks in blocks on the hosts, whatever the traffic, in an order in which
 * neighbours are near each other: along the Hilbert curve of a torus, along the
 * links of a graph, elsewhere back and forth through the units of each level.
 * O(n log n), on a graph O(links + n). */
extern const struct cpl_mapper cpl_mapper_network_order;
/* The groups that the request states, kept whole in the network's units
 * (mapping/group_layout.h). Without any, or where hosts have different slots,
 * recursive bisection of the ranks with cuts where units end, the coarsest first.
 * O(entries log n). */
extern const struct cpl_mapper cpl_mapper_groups;
/* The mapping part of PaCMap (Tuncer, Leung, Coskun, ICS 2015) on given hosts.
 * O(n * frame * d + centres * entries log n). */
extern const struct cpl_mapper cpl_mapper_pacmap;
/* PTRAM (Mirsadeghi, Afsahi): greedy on the hybrid metric of the network's own
 * routing, relative to the default order; -refine adds up to 10 swaps that
 * lower the largest congestion. Several threads evaluate candidate nodes where
 * there is enough to do. O(n^2 d * route). */
extern const struct cpl_mapper cpl_mapper_ptram, cpl_mapper_ptram_refine;
/* Branch and bound on hop-bytes, the best found within 2,000,000 steps, which
 * suffice for 9 hosts. Above CPL_ASTAR_TASKS_MAX hosts it is the default
 * order. */
#define CPL_ASTAR_TASKS_MAX 12
extern const struct cpl_mapper cpl_mapper_astar;
