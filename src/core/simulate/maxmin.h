/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Max-min fair rates of flows over links (progressive filling; Bertsekas,
 * Gallager, Data Networks, 6.5.2). Flows of one route are alike, and a route
 * may send parts of its bytes over several paths.
 *
 * Links fill in the order of their rates, so flows that have less than a flow
 * that ends or begins keep their rate, and only the others are shared out anew.
 */
#pragma once

#include <stdbool.h>

#include "graph/heap.h"
#include "routing/routing.h"

struct cpl_maxmin_route {
	int n;
	const struct cpl_share *share; /* perhaps with a link several times */
	int flows;                     /* > 0 */
	bool fresh;  /* it has flows that the last solve had not */
	bool stays;  /* for cpl_maxmin_solve */
	double rate; /* out: bytes/s of each flow */
};

struct cpl_maxmin {
	int64_t n_links;
	const double *bandwidth; /* [n_links] bytes/s; the caller's array */
	int n_used;
	int *used;      /* [n_links] links of the last solve */
	double *left;   /* [n_links] bandwidth that is not granted yet */
	double *weight; /* [n_links] shares of flows without a rate yet */
	int *routes;    /* [n_links] entries of member of used links */
	int *open;      /* [n_links] those of them without a rate yet */
	double *key;    /* [n_links] of the heap */
	struct cpl_heap heap;
	int64_t *first; /* [n_links] first entry of a used link */
	int *member;    /* [n_members] routes by link */
	int64_t n_members;
};

/* Returns 0, or -1 with err (memory); free it in either case. */
int cpl_maxmin_init(struct cpl_maxmin *m, int64_t n_links,
                    const double *bandwidth, struct cpl_error *err);
void cpl_maxmin_free(struct cpl_maxmin *m);

/* Computes the rates of all routes, none of which is fresh afterwards. `least`
 * is the lowest rate of the flows that ended since the last solve, INFINITY if
 * none has; with 0 all are shared out anew. Returns 0, or -1 with err (memory),
 * in O(shares + links used * log). */
int cpl_maxmin_solve(struct cpl_maxmin *m,
                     struct cpl_maxmin_route *const *route, int n,
                     double least, struct cpl_error *err);
