/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are the nodes of the machine under one policy: which are free, which are kept
 * for the first job that waits, and which of them a job may have. */
#pragma once

#include "campaign/bound.h"
#include "campaign/stock.h"

struct campaign_nodes {
	const struct cpl_stock_tree *tree;
	const struct bounds *bounds;
	unsigned char *free; /* [n_nodes of the network] */
	int n, n_free, n_used; /* held by whole jobs: neither free nor used */
	int *loud, *leaf_free; /* [n_leaves] */
	/* These are what nodes_have found: what the job may have, and a set. */
	unsigned char *may;
	int *found;
	unsigned char *kept, *then; /* for the first, and what is free then */
	int *count;                 /* [units] */
	/* [bounds] jobs of so many nodes find none, with `spare` [1]; 0: not known.
	 */
	int (*least)[2];
};

/* All are free. It returns 0, or -1 with err when memory is out; close it in either
 * case. O(nodes). */
int nodes_open(struct campaign_nodes *nodes, const struct cpl_stock_tree *tree,
               const struct bounds *bounds, struct cpl_error *err);
void nodes_close(struct campaign_nodes *nodes);

/* A job gets its n nodes, which communicate if they are loud, or gives them back. They
 * return how many others go with them. O(n), for whole units O(nodes). */
int nodes_take(struct campaign_nodes *nodes, const struct job_bound *bound,
               const int *node, int n, bool loud);
int nodes_give(struct campaign_nodes *nodes, const struct job_bound *bound,
               const int *node, int n, bool loud);

/* Which of the free nodes a job may have. */
struct nodes_allowed {
	bool spare;  /* those besides the ones that are kept */
	int segment; /* those that segments of so many nodes leave of a unit; or 0 */
};

/* This finds out whether a job may have n of the free nodes. It returns 1 or 0, or -1
 * with err when memory is out. As bound_find, and O(nodes) where it is known from a
 * smaller job. */
int nodes_have(struct campaign_nodes *nodes, const struct job_bound *bound, int n,
               struct nodes_allowed allowed, struct cpl_error *err);

/* These find out whether there would be n nodes for a job, if others ended: begin,
 * add each of these, end. If there are they are kept, the fewest possible of those
 * that are free now. The last takes a segment as in struct nodes_allowed, and returns
 * as nodes_have. */
void nodes_then(struct campaign_nodes *nodes);
void nodes_then_add(struct campaign_nodes *nodes, const struct job_bound *bound,
                    const int *node, int n);
int nodes_keep(struct campaign_nodes *nodes, const struct job_bound *bound, int n,
               int segment, struct cpl_error *err);

/* This is the part of the free nodes that are on leaf switches where others are not
 * free; 0 if none is free. O(leaves). */
double nodes_fragmented(const struct campaign_nodes *nodes);
