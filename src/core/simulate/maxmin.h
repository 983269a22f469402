/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Max-min fair rates of flows over links (progressive filling; Bertsekas,
 * Gallager, Data Networks, 6.5.2). Flows of one route are alike, and a route
 * may send a part of its bytes over each of several paths.
 *
 * Links fill in the order of their rates, so that flows with less than a flow
 * that ends or begins keep what they have: only those with no less are shared
 * out anew.
 */
#ifndef CPL_SIMULATE_MAXMIN_H
#define CPL_SIMULATE_MAXMIN_H

#include <stdbool.h>

#include "graph/heap.h"
#include "routing/routing.h"

struct cpl_maxmin_route {
	int n;
	const struct cpl_share *share; /* a link perhaps several times */
	int flows;                     /* > 0 */
	bool fresh;  /* some of them were not there at the last solve */
	bool stays;  /* for cpl_maxmin_solve */
	double rate; /* out: bytes/s of each flow */
};

struct cpl_maxmin {
	int64_t n_links;
	const double *bandwidth; /* [n_links] bytes/s, the caller's */
	int n_used;
	int *used;      /* links of the last solve: [n_links] */
	double *left;   /* [n_links] bandwidth of those not granted yet */
	double *weight; /* [n_links] parts of the flows that have no rate yet */
	int *routes;    /* [n_links] entries of member of each link used */
	int *open;      /* [n_links] of those the ones without a rate yet */
	double *key;    /* [n_links] the heap's */
	struct cpl_heap heap;
	int64_t *first; /* [n_links] a used link's first entry */
	int *member;    /* [n_members] routes by link */
	int64_t n_members;
};

/* 0, or -1 with err (memory); to be freed in either case. */
int cpl_maxmin_init(struct cpl_maxmin *m, int64_t n_links,
                    const double *bandwidth, struct cpl_error *err);
void cpl_maxmin_free(struct cpl_maxmin *m);

/*
 * The rates of all routes, none of which is fresh then. least: the lowest rate
 * that a flow had which ended since the last solve, INFINITY: none has; 0: all
 * are shared out anew. 0, or -1 with err (memory). O(shares + links used * log).
 */
int cpl_maxmin_solve(struct cpl_maxmin *m,
                     struct cpl_maxmin_route *const *route, int n,
                     double least, struct cpl_error *err);

#endif
