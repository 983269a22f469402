/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mapper "best" consists of swaps of ranks with exact incremental cost,
 * annealing of hop-bytes, descent on link loads, and folding of grids.
 */
#pragma once

#include <math.h>

#include "base/random.h"
#include "graph/members.h"
#include "mapping/bundles.h"
#include "mapping/mapping_internal.h"

/* Proposals go to this many hosts close to each host. */
#define CPL_SWAPS_NEAR 24

/* Distances between the hosts of a request, and the nearest hosts of each. They
 * are made once and then only read, so that searches on several threads share
 * them. */
struct cpl_tables {
	const struct cpl_map_request *req;
	struct cpl_distance distance;
	int n_near;
	/* [n_hosts * n_near] The nearest hosts, itself among them, ties to the
	 * next in the order of the hosts. Where hosts are many, only those
	 * around are looked at. */
	int *near;
	/* Bundles to refine by, made by the caller; n_links 0: none. */
	struct cpl_bundles bundles;
	/* The most that links and cables may have, see cpl_best_too_busy. */
	double busiest;
};

/* Every host must have slots. Once the budget is spent, any hosts count as
 * near. Returns 0, or -1 with err (memory), in O(hosts^2), above some thousand
 * hosts in O(hosts). */
int cpl_tables_init(struct cpl_tables *tables,
                    const struct cpl_map_request *req, struct cpl_error *err);
void cpl_tables_free(struct cpl_tables *tables);
/* The hop-bytes of graph with rank r on host[r]. O(entries). */
double cpl_tables_hop_bytes(const struct cpl_tables *tables,
                            const struct cpl_comm *graph, const int *host);

/* A layout that changes by swaps of two ranks. */
struct cpl_swaps {
	const struct cpl_map_request *req;
	const struct cpl_tables *tables;
	struct cpl_members ranks; /* on hosts: this is the layout */
	const int *kind; /* [hosts] ranks only change between hosts of one kind;
	                  * NULL: between all */
	uint64_t random; /* state of the draws */
};

/* Starts from rank_host, which every swap changes in place. req->graph must be
 * set, and tables must be of the same hosts. Returns 0, or -1 with err
 * (memory), in O(ranks + hosts). */
int cpl_swaps_init(struct cpl_swaps *swaps, const struct cpl_map_request *req,
                   const struct cpl_tables *tables, int *rank_host,
                   uint64_t seed, struct cpl_error *err);
void cpl_swaps_free(struct cpl_swaps *swaps);

/* The hop-bytes of the layout. O(entries). */
double cpl_swaps_cost(const struct cpl_swaps *swaps);
/* By how much the cost changes when a and b change hosts. O(degrees). */
double cpl_swaps_delta(const struct cpl_swaps *swaps, int a, int b);
/* Draws a rank on a host near to where a partner of `rank` is, and not on its
 * own host; -1 when the draw found none. O(1). */
int cpl_swaps_partner(struct cpl_swaps *swaps, int rank);
/* Draws a rank on a host near to the host of `rank`, or -1. O(1). */
int cpl_swaps_neighbour(struct cpl_swaps *swaps, int rank);

/* A random number in 0 .. n - 1. */
int cpl_swaps_below(struct cpl_swaps *swaps, int n);
/* See cpl_random_exponential. */
static inline double cpl_swaps_exponential(struct cpl_swaps *swaps)
{
	return cpl_random_exponential(cpl_random_next(&swaps->random));
}

/* Simulated annealing of the hop-bytes (Kirkpatrick, Gelatt, Vecchi, Science
 * 220, 1983) from `heat` times the mean change of a random swap, over `size`
 * evaluations. It goes back to where it started when it got much worse. Ranks
 * only change between hosts of one kind (NULL: between all). Returns 0, or -1
 * with err (memory). */
int cpl_map_anneal(const struct cpl_map_request *req,
                   const struct cpl_tables *tables, const int *kind,
                   double heat, int64_t size, uint64_t seed, int *rank_host,
                   struct cpl_error *err);

/* Whether layout a is better than b by the objective; for max-congestion by the
 * product with hop-bytes to the power of 1.5, so that a little less on the one link
 * that has most is not bought with much more on all others. */
static inline bool cpl_best_better(enum cpl_objective objective,
                                   const struct cpl_metrics *a,
                                   double a_hop_bytes,
                                   const struct cpl_metrics *b,
                                   double b_hop_bytes)
{
	double x = a->max_congestion * a_hop_bytes * sqrt(a_hop_bytes);
	double y = b->max_congestion * b_hop_bytes * sqrt(b_hop_bytes);

	if (objective == CPL_OBJECTIVE_MAX &&
	    (x < y * (1 - 1e-9) || y < x * (1 - 1e-9)))
		return x < y;
	return cpl_objective_better(objective, a, a_hop_bytes, b, b_hop_bytes);
}

/* An evaluation of link loads takes as long as this many of hop-bytes. */
#define CPL_LINK_WORK 16

/* Lowers the largest congestion by swaps that lower the sum of the 8th powers
 * of the links' congestion, at a price for hop-bytes, as annealing at a low
 * temperature. The best layout by req->objective seen at checkpoints is kept.
 * `heat` is the temperature at the start, in units of a rank's mean part in the
 * sum; `size` is in evaluations / CPL_LINK_WORK. All else is as in
 * cpl_map_anneal. */
int cpl_map_refine_links(const struct cpl_map_request *req,
                         const struct cpl_tables *tables, double heat,
                         int64_t size, uint64_t seed, int *rank_host,
                         struct cpl_error *err);

/* An evaluation of bundles takes as long as this many of hop-bytes. */
#define CPL_BUNDLE_WORK 4

/* Whether a link or cable is busier than any may be. Where the objective looks
 * at links only, cables must not pay for them. */
static inline bool cpl_best_too_busy(enum cpl_objective objective,
                                     const struct cpl_metrics *metrics,
                                     double busiest)
{
	double max = metrics->max_congestion > metrics->max_injection
	                     ? metrics->max_congestion
	                     : metrics->max_injection;

	return objective == CPL_OBJECTIVE_MAX && max > busiest * (1 + 1e-9);
}

/* The same by tables->bundles (mapping/bundles.h), which must be there: cables
 * count too, and hop-bytes hardly. With comm and graph contracted to hosts it
 * moves whole hosts. */
int cpl_map_refine_bundles(const struct cpl_map_request *req,
                           const struct cpl_tables *tables, double heat,
                           int64_t size, uint64_t seed, int *rank_host,
                           struct cpl_error *err);

/* A grid or torus found in a graph. */
struct cpl_grid {
	int n_dims;
	int dim[4]; /* longest first */
	bool wrap;  /* in every dimension longer than 2 */
	/* All cells of a line are neighbours of each other. */
	bool cliques;
	int *cell;  /* [ranks] cell of a rank, the first dimension fastest */
};

/* Finds a grid or torus that the heavy edges of graph make up exactly, whatever
 * the rank numbers are: a search for an isomorphism. Heavy edges have at least
 * half the bytes of the heaviest, or the most common neighbours, as the faces
 * of a 27-point halo have. Returns 1 when found (free grid->cell), 0 when not
 * or when the budget ends, or -1 with err (memory), in a fixed amount of work,
 * O(ranks * degree^2). */
int cpl_map_find_grid(const struct cpl_map_request *req,
                      const struct cpl_comm *graph, struct cpl_grid *grid,
                      struct cpl_error *err);

/* Finds the rows and columns (and so on, up to four dimensions) of ranks in
 * which all talk to all, whatever the rank numbers are. It returns as above;
 * the dimension of most bytes comes first. O(ranks + entries). */
int cpl_map_find_cliques(const struct cpl_comm *graph, struct cpl_grid *grid,
                         struct cpl_error *err);

/* Lays a grid of ranks on a whole torus with as many ranks on every node: the
 * grid of tiles of ranks is folded onto the machine's dimensions by common
 * factors, and the folding of least hop-bytes among a fixed number is taken.
 * Returns 1 when rank_host was written, 0 when nothing fits, or -1 with err
 * (memory). */
int cpl_map_fold(const struct cpl_map_request *req, const struct cpl_grid *grid,
                 int *rank_host, struct cpl_error *err);

/* Sorts the hosts [n_hosts] by node, hence unit by unit; on a torus along its
 * Hilbert curve. O(hosts log hosts). */
void cpl_map_hosts_along(const struct cpl_map_request *req,
                         struct cpl_keyed *keyed);

/* Lays a grid of ranks on any hosts: halves of the grid go to halves of the
 * machine, cut between its units, and so on (nest.c). Returns 0, or -1 with err
 * (memory), in O(ranks log ranks * log hosts). */
int cpl_map_nest(const struct cpl_map_request *req, const struct cpl_grid *grid,
                 int *rank_host, struct cpl_error *err);

/* Whether the hops between the hosts are those of a tree: of three hosts no two are
 * farther apart than the farther one of them is from the third. Only some threes are
 * looked at, drawn by the seed, so that a large network may pass for one that is one
 * but for few hosts. O(1). */
bool cpl_map_hops_of_tree(const struct cpl_map_request *req);

/* Packs groups of ranks that have little to do with the others into hosts,
 * whole as long as there is room (pack.c). Returns 1; 0 where there are no such
 * groups; or -1 with err (memory), in O(entries + ranks * sizes of groups). */
int cpl_map_pack(const struct cpl_map_request *req, int *rank_host,
                 struct cpl_error *err);
