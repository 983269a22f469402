/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which sets of nodes a scheduler accepts for a job beside those that are free:
 * in a row, on few leaf switches, in segments that each lie within a block. A
 * candidate is made to fit, so that what is compared is what can be had.
 *
 * Rules are words with commas between them:
 *
 *	segment=S     the job is segments of S nodes; without it, one segment
 *	switches=N    a segment lies on at most N units, called switches
 *	blocks=N      the same, called blocks
 *	spread        no unit has nodes of two segments
 *	consolidate   all segments lie in one domain
 *	contiguous    the nodes stand in a row
 *	wish=S        of each domain that traffic need not leave (of accelerators, or
 *	              a unit of the network, see mapping/segments.h) the job has
 *	              segments of S nodes, if that can be: a set without is as good
 *	              as one with, where there is no other
 *
 * and units are "b1:n[0-17] b2:n[18-35]", or "a0/b1:n[0-17]" where they stand in
 * domains; hosts are in the scheduler's order, those of other machines' names
 * count as places in a row. A node without a unit is not taken. A segment lies
 * in one domain.
 *
 * A wish is softer than a segment on purpose. It is what a signature implies
 * (SegmentFromSignature), not what anybody asked for: as a segment of the
 * scheduler's it would keep a job waiting that could begin without, and change
 * where it may lie at all. So it orders what the scheduler accepts anyway, and is
 * found when nodes are chosen, whose number may not be known before.
 */
/* Tests: bounds* in test_bounds test_bounds_wish. */
#pragma once

#include "placement/placement.h"

struct cpl_bounds {
	int segment; /* nodes; 0: the job is one segment */
	int most;    /* units of a segment; 0: any number */
	bool blocks; /* units are called so */
	bool apart, together, in_a_row;
	int wish;    /* nodes of segments that are wished for; 0: none */
	int *home;   /* [n_nodes] with a wish: the domain of it; -1: none */
	int n_homes;
	int n_units, n_domains;
	int *unit;   /* [n_nodes] -1: none */
	int *place;  /* [n_nodes] where it stands in the list of units */
	int *domain; /* [n_units] */
	char **name; /* [n_units] */
};

/*
 * Reads rules and units, whose nodes are the network's. 0, to be freed by
 * cpl_bounds_free, or -1 with err: a word that is none, a number below 1, a
 * host in two units, a rule that needs another one, memory. O(text + hosts).
 */
int cpl_bounds_read(struct cpl_bounds *out, const struct cpl_network *net,
                    const char *rules, const char *units,
                    struct cpl_error *err);
void cpl_bounds_free(struct cpl_bounds *bounds);

/*
 * Make out[n_nodes_wanted], a policy's choice, a set within req->bounds: one
 * that keeps most of it, and all required nodes. Segments stand in a row, in
 * each of them nodes in the policy's order, others behind. 0; 1: none was
 * found, and out is as it was; -1 with err: memory. A set in a row, on few units
 * in one domain, or of segments within a unit is found where there is one; what
 * is tighter may be missed. O(nodes log nodes + segments * units * most^2).
 */
int cpl_bounds_fit(const struct cpl_placement_request *req, int *out,
                   struct cpl_error *err);

/* Are these n nodes, each of them once, within the bounds (but for the wish)? Where a
 * segment may lie in several units, these are taken from the fullest on, and what
 * holds in another way only is not seen. count[] has room for the units.
 * O(n + segments * units * most). */
bool cpl_bounds_hold(const struct cpl_bounds *bounds, const int *node, int n,
                     int *count);

/* Takes a segment of n nodes out of the units that have most of count[] left, in the
 * domain of the first of these, as many as may hold it; false: they do not.
 * O(units * most). */
bool cpl_bounds_take(const struct cpl_bounds *bounds, int *count, int n);

/* Exchange nodes of out[], a set within the bounds, for others of its units, so that
 * it keeps the wish. Nodes of a domain stand in a row then, those of the set in their
 * order and before others. As cpl_bounds_fit; 0 also where there is no wish. A set
 * is found where these units have one with its required nodes.
 * O(nodes + domains^2). */
int cpl_bounds_grant(const struct cpl_placement_request *req, int *out,
                     struct cpl_error *err);

/* Are these n nodes as the bounds wish? O(n + domains). False, too: memory. */
bool cpl_bounds_granted(const struct cpl_bounds *bounds, const int *node, int n);

/* Both where there are bounds; in place of what does not fit stands `stock`,
 * the scheduler's own nodes. -1 with err: NULL, or memory. */
int cpl_bounds_keep(const struct cpl_placement_request *req, const int *stock,
                    int *out, struct cpl_error *err);

/* What of it node[n] keeps, in words: "segments of 4 kept on blocks b1, b2".
 * free() it; NULL: memory. O(nodes + units). */
char *cpl_bounds_words(const struct cpl_bounds *bounds, const int *node,
                       int n);
