/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The portfolio of the mapper "best", and its chains of searches, which run
 * side by side and know nothing of each other.
 */
#pragma once

#include "mapping/best/best.h"
#include "traffic/workload.h"

/* It is fixed, so that the answer does not depend on the number of threads. */
#define CPL_BEST_CHAINS 4

struct cpl_best_layout {
	int *rank_host; /* [ranks] */
	struct cpl_metrics metrics;
	double hop_bytes;
	bool any;
};

struct cpl_best {
	const struct cpl_map_request *req; /* only hosts that have slots */
	struct cpl_tables tables;
	bool searchable; /* tables were made */
	/* Hosts of one kind may exchange all their ranks; NULL: all may. */
	const int *kind;
	bool single;              /* one rank on each host */
	bool tree;                /* hops are those of a tree */
	/* The better of the default order and the order by switches. */
	struct cpl_metrics first;
	double first_hop_bytes;
	double busiest; /* of their links and cables */
	struct cpl_best_layout low, answer;
	/* Ranks gathered as for mappers of one cluster on each host
	 * (mapping/clusters.h), cluster i for host i. `grouped` says that they
	 * are made, which needs hosts of one size. */
	int *groups; /* [ranks] */
	bool grouped;
	int bisections; /* runs of each of them */
	/* The start of least hop-bytes, with its hosts only exchanged as a
	 * whole ever since: single exchanges blur what belongs together. */
	struct cpl_best_layout base;
};

/* One chain's own state; low, answer and base are as in struct cpl_best. */
struct cpl_best_chain {
	const struct cpl_best *best;
	struct cpl_workload *evaluation;
	int *trial;  /* [ranks] */
	int *layout; /* [hosts] where hosts go as a whole */
	int *groups; /* those of struct cpl_best */
	struct cpl_best_layout low, answer, base;
	/* Does a start, or a round. Returns 0, or -1 with chain->err. */
	int (*run)(struct cpl_best_chain *chain);
	/* The round at hand. */
	int64_t size;
	uint64_t seed;
	bool hot; /* false: it searches around what there is */
	double heat; /* where it is hot */
	double link_heat;
	bool from_answer; /* its search on links begins at the best layout */
	const struct cpl_best_mapper *mapper; /* of a start */
	int rc;
	bool failed; /* an evaluation failed */
	struct cpl_error err;
};

/* The cost of chain->trial by the traffic model, background included. When
 * memory is out it is infinite, and chain->failed is set. */
void cpl_best_evaluate(struct cpl_best_chain *chain,
                       struct cpl_metrics *metrics, double *hop_bytes);
/* Judges chain->trial and updates low and answer, in one evaluation. */
void cpl_best_consider(struct cpl_best_chain *chain);

/* Keeps b in a when it is better, by hop-bytes (low) or by the objective. */
void cpl_best_keep(const struct cpl_best *best, struct cpl_best_layout *a,
                   const struct cpl_best_layout *b, bool low);
/* Runs n chains side by side and puts what they find together in their order.
 * Returns 0, or -1 with err. */
int cpl_best_run_all(struct cpl_best *best, struct cpl_best_chain *chain, int n,
                     struct cpl_error *err);
/* The same with one chain, which does `run`. */
int cpl_best_run_start(struct cpl_best *best, struct cpl_best_chain *chain,
                       int (*run)(struct cpl_best_chain *chain),
                       struct cpl_error *err);
/* Whether every message goes over one link, so that nothing can be nearer. */
bool cpl_best_perfect(const struct cpl_best *best);

/* Runs rounds of searches from what the starts have found, up to req->work
 * evaluations, the budget, or the time `until` (0: unknown). Returns 0, or -1
 * with err. */
int cpl_best_rounds(struct cpl_best *best, struct cpl_best_chain *chain,
                    double until, struct cpl_error *err);

/* Traffic between the hosts of a layout as a job of its own with one rank on
 * each host: its rank i is what the layout has on host i. */
struct cpl_best_nodes {
	struct cpl_map_request req;
	struct cpl_comm *comm, *graph;
	int *ones;
};

/* Returns 0, or -1 with err (memory), in O(entries log entries); free it. */
int cpl_best_nodes_init(struct cpl_best_nodes *nodes,
                        const struct cpl_map_request *req, const int *rank_host,
                        struct cpl_error *err);
void cpl_best_nodes_free(struct cpl_best_nodes *nodes);
/* Moves the hosts of layout `from` as chain->layout says, and judges that. */
void cpl_best_move_nodes(struct cpl_best_chain *chain, const int *from);

/* Starts, for cpl_best_chain.run; each makes layouts and judges them. */
int cpl_best_start_grid(struct cpl_best_chain *chain);
int cpl_best_start_greedy(struct cpl_best_chain *chain);
int cpl_best_start_pack(struct cpl_best_chain *chain);
/* Where hosts are of one size, it makes chain->groups as well. */
int cpl_best_start_bisection(struct cpl_best_chain *chain);
/* Greedy mapping of the hosts of chain->low as a whole. */
int cpl_best_start_nodes(struct cpl_best_chain *chain);
/* The layout of chain->mapper; a mapper that fails is left out. */
int cpl_best_start_mapper(struct cpl_best_chain *chain);

/* On a torus, the images of chain->low and chain->answer under exchange of
 * equal dimensions and reflection, where the allocation has the same symmetry.
 * Hops stay the same, but link loads do not, since routes take dimensions in
 * order and ties to one side. */
int cpl_best_start_symmetry(struct cpl_best_chain *chain);

/*
 * Where ranks and the slots of each host are powers of two, maps rank bits to
 * bits of the position among all slots by an invertible matrix over GF(2). It
 * begins at the identity and, on a torus, at Morton order, and adds and
 * exchanges rows and columns as long as that lowers the hop-bytes, then as long
 * as it betters the objective. That covers orders of the machine's dimensions,
 * tilings, Gray codes and transposition. Patterns that are far from such an
 * order are left at once. It takes about chain->size evaluations.
 */
int cpl_best_start_bits(struct cpl_best_chain *chain);

/* A mapper of another source that is cheap enough for the work or the time
 * there is. The cheapest come first by measured costs, which mappers.c has in a
 * table. */
struct cpl_best_mapper {
	const struct cpl_mapper *mapper;
	const struct cpl_best_nodes *nodes; /* from groups made once for all */
	const int *groups;                  /* [ranks], with nodes */
	double cost;                        /* in nanoseconds */
	int number;                         /* in the table */
};

struct cpl_best_mappers {
	struct cpl_best_mapper *mapper; /* [n] */
	int n;
	struct cpl_best_nodes nodes; /* of the groups */
};

/* The nanoseconds for gathering ranks by bisections into a group per host. */
double cpl_best_gather_cost(const struct cpl_map_request *req);

/* Returns 0, or -1 with err (memory), in O(entries log entries); free it. */
int cpl_best_choose_mappers(const struct cpl_best *best,
                            struct cpl_best_mappers *mappers,
                            struct cpl_error *err);
void cpl_best_mappers_free(struct cpl_best_mappers *mappers);
