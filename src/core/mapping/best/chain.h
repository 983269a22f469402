/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the mapper "best" share: the portfolio, and chains of
 * searches that run side by side and know nothing of each other.
 */
#ifndef CPL_MAPPING_BEST_CHAIN_H
#define CPL_MAPPING_BEST_CHAIN_H

#include "mapping/best/best.h"
#include "traffic/workload.h"

/* Fixed, so that the answer does not depend on the number of threads. */
#define CPL_BEST_CHAINS 4

struct cpl_best_layout {
	int *rank_host; /* [ranks] */
	struct cpl_metrics metrics;
	double hop_bytes;
	bool any;
};

struct cpl_best {
	const struct cpl_map_request *req; /* hosts that have slots only */
	struct cpl_tables tables;
	bool searchable; /* tables are there */
	/* Hosts may change their ranks as a whole where they are of one kind;
	 * NULL: all are. */
	const int *kind;
	bool single;              /* one rank on each host */
	/* The figures of the better of the default order and the order by
	 * switches. */
	struct cpl_metrics first;
	double first_hop_bytes;
	double busiest; /* of its links and cables */
	struct cpl_best_layout low, answer;
	/* Ranks gathered as mappers of one cluster for each host do it
	 * (mapping/clusters.h), cluster i on host i; grouped: made, hosts of
	 * one size only. */
	int *groups; /* [ranks] */
	bool grouped;
	/* Of the starts the one of least hop-bytes, with its hosts exchanged as
	 * a whole ever since: single exchanges blur what belongs together. */
	struct cpl_best_layout base;
};

/* What one chain has of its own; low, answer, base as in struct cpl_best. */
struct cpl_best_chain {
	const struct cpl_best *best;
	struct cpl_workload *evaluation;
	int *trial;  /* [ranks] */
	int *layout; /* [hosts] of hosts as a whole */
	int *groups; /* struct cpl_best's */
	struct cpl_best_layout low, answer, base;
	/* What the chain does: a start, or a round. 0, or -1 with
	 * chain->err. */
	int (*run)(struct cpl_best_chain *chain);
	/* Of the round at hand. */
	int64_t size;
	uint64_t seed;
	bool hot; /* else a search around what there is */
	double link_heat;
	bool from_answer; /* links: from the best layout so far */
	const struct cpl_best_mapper *mapper; /* a start */
	int rc;
	bool failed; /* an evaluation */
	struct cpl_error err;
};

/* What chain->trial costs by the traffic model, background included; without
 * end where memory is out, and chain->failed. */
void cpl_best_evaluate(struct cpl_best_chain *chain,
                       struct cpl_metrics *metrics, double *hop_bytes);
/* Judge chain->trial: low and answer are kept up to date. One evaluation. */
void cpl_best_consider(struct cpl_best_chain *chain);

/* Keep b in a when it is better, by hop-bytes (low) or by the objective. */
void cpl_best_keep(const struct cpl_best *best, struct cpl_best_layout *a,
                   const struct cpl_best_layout *b, bool low);
/* Run n chains side by side; what they find is put together in their order. 0,
 * or -1 with err. */
int cpl_best_run_all(struct cpl_best *best, struct cpl_best_chain *chain, int n,
                     struct cpl_error *err);
/* The same with one chain, which does `run`. */
int cpl_best_run_start(struct cpl_best *best, struct cpl_best_chain *chain,
                       int (*run)(struct cpl_best_chain *chain),
                       struct cpl_error *err);
/* Does every message go over one link, so that nothing is nearer? */
bool cpl_best_perfect(const struct cpl_best *best);

/* Rounds of searches from what the starts have found, up to req->work
 * evaluations, the budget, or the time `until` (0: unknown). 0, or -1 with err. */
int cpl_best_rounds(struct cpl_best *best, struct cpl_best_chain *chain,
                    double until, struct cpl_error *err);

/* Traffic between the hosts of a layout as a job of its own with one rank on
 * each: rank i of it is what the layout has on host i. */
struct cpl_best_nodes {
	struct cpl_map_request req;
	struct cpl_comm *comm, *graph;
	int *ones;
};

/* 0, or -1 with err (memory); free in either case. O(entries log entries). */
int cpl_best_nodes_init(struct cpl_best_nodes *nodes,
                        const struct cpl_map_request *req, const int *rank_host,
                        struct cpl_error *err);
void cpl_best_nodes_free(struct cpl_best_nodes *nodes);
/* Put the hosts of `from` anew as chain->layout says, and judge that. */
void cpl_best_move_nodes(struct cpl_best_chain *chain, const int *from);

/* Layouts to start from, judged each: cpl_best_chain.run. */
int cpl_best_start_grid(struct cpl_best_chain *chain);
int cpl_best_start_greedy(struct cpl_best_chain *chain);
int cpl_best_start_pack(struct cpl_best_chain *chain);
/* Clusters: makes chain->groups as well where hosts are of one size. */
int cpl_best_start_bisection(struct cpl_best_chain *chain);
/* Greedy on the hosts of chain->low as a whole. */
int cpl_best_start_nodes(struct cpl_best_chain *chain);
/* chain->mapper's layout; one that it cannot make is left out. */
int cpl_best_start_mapper(struct cpl_best_chain *chain);

/*
 * Torus: the images of chain->low and chain->answer under exchange of equal
 * dimensions and reflection, where the allocation has the same. Hops stay; link
 * loads do not, since routes take dimensions in order and ties to one side.
 */
int cpl_best_start_symmetry(struct cpl_best_chain *chain);

/*
 * Where ranks and slots of each host are powers of two: rank bits to bits of
 * the position among all slots by an invertible matrix over GF(2), from the
 * identity and, on a torus, from Morton order, by exchange and addition of rows
 * and columns as long as that lowers the hop-bytes, then as long as it betters
 * the objective. Covers orders of the machine's dimensions, tilings, Gray
 * codes, transposition. Patterns that are far from such an order are left at
 * once. About chain->size evaluations.
 */
int cpl_best_start_bits(struct cpl_best_chain *chain);

/*
 * The mappers of the sources that are cheap enough for the work or the time
 * there is, the cheapest first by what they are known to cost; mappers.c has
 * the table.
 */
struct cpl_best_mapper {
	const struct cpl_mapper *mapper;
	const struct cpl_best_nodes *nodes; /* on groups made once for all */
	const int *groups;                  /* [ranks] with nodes */
	double cost;                        /* nanoseconds */
	int number;                         /* in the table */
};

struct cpl_best_mappers {
	struct cpl_best_mapper *mapper; /* [n] */
	int n;
	struct cpl_best_nodes nodes; /* of the groups */
};

/* Nanoseconds that it takes to gather the ranks by bisections into a group for
 * each host. */
double cpl_best_gather_cost(const struct cpl_map_request *req);

/* 0, or -1 with err (memory); free in either case. O(entries log entries). */
int cpl_best_choose_mappers(const struct cpl_best *best,
                            struct cpl_best_mappers *mappers,
                            struct cpl_error *err);
void cpl_best_mappers_free(struct cpl_best_mappers *mappers);

#endif
