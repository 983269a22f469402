/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What others choose, to compare with: Slurm's own selection of whole, idle
 * nodes of one weight, and the algorithms of "Communication-aware job
 * scheduling using SLURM" (Mishra, Agrawal, Malakar, ICPP workshops 2020), with
 * that study's cost. Ties go to the lowest index.
 */
#ifndef CPL_CAMPAIGN_STOCK_H
#define CPL_CAMPAIGN_STOCK_H

#include <stdbool.h>

#include "network/network.h"

/*
 * Switches as topology/tree would have them for a network: its levels with more
 * than one node in a unit, the finest as leaf switches, one switch above all.
 */
struct cpl_stock_tree {
	const struct cpl_network *net;
	int n_leaves;
	int *leaf_of;  /* [n_nodes], -1: a port without a node */
	int *first;    /* [n_leaves + 1] into node[] */
	int *node;     /* by leaf, then id */
	int n_levels;  /* leaves included, the root not */
	int **unit_of; /* [n_levels][n_leaves] unit of a leaf in level i, 0 the
	                * leaves themselves */
	int *n_units;  /* [n_levels] */
};

/* 0, or -1 with err (memory), to be freed in either case. O(nodes). */
int cpl_stock_tree_init(struct cpl_stock_tree *tree,
                        const struct cpl_network *net, struct cpl_error *err);
void cpl_stock_tree_free(struct cpl_stock_tree *tree);

/* The steps that the study adds up. */
enum cpl_study_pattern {
	CPL_STUDY_HALVING,  /* recursive halving, vector doubling */
	CPL_STUDY_DOUBLING, /* recursive doubling */
	CPL_STUDY_BINOMIAL, /* binomial tree */
	CPL_STUDY_2D,       /* 0.3 doubling + 0.7 binomial */
	CPL_STUDY_PATTERNS
};
/* "rhvd", "rd", "binomial", "2-d". */
extern const char *const cpl_study_pattern_name[CPL_STUDY_PATTERNS + 1];

/* What is asked of the choices below. All write n distinct free nodes, of which
 * there are as many, in rank order; 0, or -1 with err (memory). */
struct cpl_stock_request {
	const struct cpl_stock_tree *tree;
	const unsigned char *free; /* [n_nodes] */
	int n;
	/* The study's: does this job communicate, and nodes of running jobs
	 * that do, by leaf. */
	bool communicates;
	const int *loud; /* [n_leaves] */
	enum cpl_study_pattern study; /* of adaptive */
};

/*
 * cons_tres, flat: the runs of consecutive free nodes one after the other, each
 * time the smallest that is enough for what is left, or else the largest. Lowest
 * nodes of a run first; ranks by node. O(nodes * runs taken).
 */
int cpl_stock_flat(const struct cpl_stock_request *req, int *out,
                   struct cpl_error *err);

/*
 * cons_tres with topology/tree: leaf switch after leaf switch, the nearest to
 * those taken that fits no worse, of equally near ones the one that fits best:
 * the smallest that is enough, else by the switches above, else the largest.
 * Ranks by node; with by_leaf by leaf switch, as SwitchAsNodeRank has them.
 * O(leaves * leaves taken * levels).
 */
int cpl_stock_tree_choose(const struct cpl_stock_request *req, bool by_leaf,
                         int *out, struct cpl_error *err);

/* select/linear with topology/tree, what the study compares with: one leaf as
 * below, or else the fullest leaf switches first. Ranks in the order of choice,
 * as that study counts them. O(leaves log leaves + nodes). */
int cpl_stock_select_linear(const struct cpl_stock_request *req, int *out,
                            struct cpl_error *err);

/*
 * The study's. Greedy: leaves by nodes of communicating jobs over busy ones plus
 * busy ones over all, in increasing order for a job that communicates, else in
 * decreasing order. Balanced: for a job that communicates a power of two of
 * nodes on each leaf, from the emptiest on, and what is left over from the last
 * back; else the fullest first. Both first look for one leaf, of several the
 * fullest, that is enough. Ranks by leaf in the order of choice. O(leaves log
 * leaves + nodes).
 */
int cpl_stock_greedy(const struct cpl_stock_request *req, int *out,
                     struct cpl_error *err);
int cpl_stock_balanced(const struct cpl_stock_request *req, int *out,
                       struct cpl_error *err);

/*
 * The study's cost of node[n] in rank order: for each step the largest distance
 * * (1 + contention) of its pairs, times the step's message. Distance is 2
 * within a leaf, 4 between leaves; contention of a leaf its loud nodes over its
 * nodes, between leaves both and half of both together; the job's own nodes are
 * among loud[]. 0 of one node. O(n log n).
 */
double cpl_study_cost(const struct cpl_stock_tree *tree, const int *loud,
                      enum cpl_study_pattern pattern, const int *node, int n);

/* Of greedy and balanced the one that costs less, for a job that does not
 * communicate the one that costs more; greedy of equals. */
int cpl_stock_adaptive(const struct cpl_stock_request *req, int *out,
                       struct cpl_error *err);

#endif
