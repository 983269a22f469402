/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are other methods to compare with: Slurm's own selection of whole, idle
 * nodes of one weight, and the algorithms of "Communication-aware job scheduling
 * using SLURM" (Mishra, Agrawal, Malakar, ICPP workshops 2020), with that study's
 * cost. Ties go to the lowest index. */
#pragma once

#include <stdbool.h>

#include "network/network.h"

/* These are the switches that topology/tree would have for a network: its levels
 * with more than one node in a unit, the finest as leaf switches, and one switch
 * above all. */
struct cpl_stock_tree {
	const struct cpl_network *net;
	int n_leaves;
	int *leaf_of;  /* [n_nodes], -1: a port without a node */
	int *first;    /* [n_leaves + 1] into node[] */
	int *node;     /* by leaf, then id */
	int n_levels;  /* with the leaves, without the root */
	/* [n_levels][n_leaves] unit of a leaf in level i; level 0 are leaves */
	int **unit_of;
	int *n_units;  /* [n_levels] */
};

/* This returns 0, or -1 with err when memory is out; free it in either case. It
 * costs O(nodes). */
int cpl_stock_tree_init(struct cpl_stock_tree *tree,
                        const struct cpl_network *net, struct cpl_error *err);
void cpl_stock_tree_free(struct cpl_stock_tree *tree);

/* The study adds up the steps of these. */
enum cpl_study_pattern {
	CPL_STUDY_HALVING,  /* recursive halving, vector doubling */
	CPL_STUDY_DOUBLING, /* recursive doubling */
	CPL_STUDY_BINOMIAL, /* binomial tree */
	CPL_STUDY_2D,       /* 0.3 doubling + 0.7 binomial */
	CPL_STUDY_PATTERNS
};
/* The names are "rhvd", "rd", "binomial", "2-d". */
extern const char *const cpl_study_pattern_name[CPL_STUDY_PATTERNS + 1];

/* The choices below get this. All of them write n distinct free nodes, of which
 * there are enough, in rank order. They return 0, or -1 with err when memory is
 * out. */
struct cpl_stock_request {
	const struct cpl_stock_tree *tree;
	const unsigned char *free; /* [n_nodes] */
	int n;
	/* These are the study's: whether this job communicates, and how many nodes
	 * of each leaf have running jobs that do. */
	bool communicates;
	const int *loud; /* [n_leaves] */
	enum cpl_study_pattern study; /* of adaptive */
};

/* This is cons_tres, flat: it takes one run of consecutive free nodes after the
 * other, each time the smallest that is enough for what is left, or else the
 * largest. The lowest nodes of a run come first, and ranks go by node. It costs
 * O(nodes * runs taken). */
int cpl_stock_flat(const struct cpl_stock_request *req, int *out,
                   struct cpl_error *err);

/* This is cons_tres with topology/tree: it takes leaf switch after leaf switch,
 * each time the nearest to those taken that fits no worse, and of equally near ones
 * the one that fits best: the smallest that is enough, else by the switches above,
 * else the largest. Ranks go by node, or with by_leaf by leaf switch, as with
 * SwitchAsNodeRank. It costs O(leaves * leaves taken * levels). */
int cpl_stock_tree_choose(const struct cpl_stock_request *req, bool by_leaf,
                         int *out, struct cpl_error *err);

/* This is select/linear with topology/tree, which the study compares with: one leaf
 * as below, or else the fullest leaf switches first. Ranks go in the order of
 * choice, as that study counts them. It costs O(leaves log leaves + nodes). */
int cpl_stock_select_linear(const struct cpl_stock_request *req, int *out,
                            struct cpl_error *err);

/*
 * These are the study's. Greedy orders leaves by nodes of communicating jobs over
 * busy ones plus busy ones over all, increasing for a job that communicates, else
 * decreasing. Balanced gives a job that communicates a power of two of nodes on
 * each leaf, from the emptiest on, and what is left over from the last back; for
 * other jobs the fullest come first. Both first look for one leaf that is enough,
 * and take the fullest of several. Ranks go by leaf in the order of choice. They
 * cost O(leaves log leaves + nodes).
 */
int cpl_stock_greedy(const struct cpl_stock_request *req, int *out,
                     struct cpl_error *err);
int cpl_stock_balanced(const struct cpl_stock_request *req, int *out,
                       struct cpl_error *err);

/* This is the study's cost of node[n] in rank order: for each step, the largest
 * distance * (1 + contention) of its pairs, times the step's message. Distance is 2
 * within a leaf and 4 between leaves. The contention of a leaf is its loud nodes
 * over its nodes; between leaves it is that of both and half of both together. The
 * job's own nodes are among loud[]. The cost of one node is 0. It takes O(n log
 * n). */
double cpl_study_cost(const struct cpl_stock_tree *tree, const int *loud,
                      enum cpl_study_pattern pattern, const int *node, int n);

/* This takes the one of greedy and balanced that costs less, or for a job that does
 * not communicate the one that costs more; greedy if they are equal. */
int cpl_stock_adaptive(const struct cpl_stock_request *req, int *out,
                       struct cpl_error *err);
