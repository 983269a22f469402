/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hops between the distinct routers of a host list ("leaves", numbered by first
 * appearance; hosts of one router share one). Where the network is a product,
 * hops add up over its dimensions: one small table for each and the leaves'
 * coordinates are enough for all. Hops are taken to be the same both ways, as
 * they are for every routing here.
 */
#pragma once

#include <stdbool.h>

#include "routing/routing.h"

struct cpl_distance {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	int n_leaves;
	int *leaf;   /* [n_hosts] leaf of a host */
	int *router; /* [n_leaves] router id */
	/* Rows made when first asked for, in a cache of bounded size. */
	int n_rows;  /* rows the cache holds */
	int *row_of; /* [n_rows] leaf whose row is there, -1: none */
	float *row;  /* [n_rows * n_leaves] */
	bool all;    /* row has those of all leaves, in order */
	int n_dims;  /* of the product, or 0 */
	float *table[CPL_NETWORK_MAX_DIMS]; /* [dim * dim] */
	unsigned short *at; /* [n_leaves * n_dims] coordinates */
	struct cpl_arena arena;
};

/* 0, or -1 with err (memory). O(hosts + routers). */
int cpl_distance_init(struct cpl_distance *distance,
                      const struct cpl_network *net,
                      const struct cpl_routing *routing, const int *host,
                      int n_hosts, struct cpl_error *err);
void cpl_distance_free(struct cpl_distance *distance);

/* Make all rows where they are not too many to be of use. Several threads may
 * ask cpl_distance_hops then, or without it. O(leaves^2). */
void cpl_distance_fill(struct cpl_distance *distance);
/* Hops between two leaves. O(1), O(dimensions), or a call of the routing's. */
static inline double cpl_distance_hops(const struct cpl_distance *d, int a,
                                       int b)
{
	const unsigned short *x = d->at + (size_t)a * (size_t)d->n_dims;
	const unsigned short *y = d->at + (size_t)b * (size_t)d->n_dims;
	double sum = 0;

	if (d->all)
		return (double)
		        d->row[(size_t)a * (size_t)d->n_leaves + (size_t)b];
	if (!d->n_dims)
		return d->routing->hops(d->net, d->router[a], d->router[b]);
	for (int k = 0; k < d->n_dims; k++)
		sum += (double)
		        d->table[k][x[k] * d->net->product.dim[k] + y[k]];
	return sum;
}

/* Hops from a leaf to every leaf, valid until the next call with a leaf that
 * shares the cache line. O(1) when cached, else O(n_leaves) hop counts. */
const float *cpl_distance_row(struct cpl_distance *distance, int leaf);
/* Hops between two leaves: by dimensions where the network has some and the row
 * is not there, else by the row, which is made. */
double cpl_distance_between(struct cpl_distance *distance, int a, int b);
/*
 * sum[i] = hops from leaf i to all leaves, weighted. Only where hops add up
 * over dimensions: false elsewhere, sum is then as it was. weight may not be
 * sum. O(n_leaves * dimensions + their squares).
 */
bool cpl_distance_sums(const struct cpl_distance *distance,
                       const double *weight, double *sum);

/* The leaves around a leaf of a product in the order of their distance, so that
 * a search for a near one need not look at all. */
struct cpl_rings {
	const struct cpl_distance *distance; /* NULL: none were made */
	int max;                             /* the largest distance */
	int64_t *start; /* [max + 3] offsets of length l are start[l] up to
	                 * start[l + 1] */
	short *offset;  /* [start[max + 1] * n_dims] */
	int *leaf_of;   /* [n_routers] leaf, or -1 */
	struct cpl_arena arena;
};

/*
 * 1 when made; 0 where the network is no product, its routing's hops are not
 * those of the shorter paths, the job has few of its routers, or there would be
 * too many offsets; -1 with err (memory). O(routers * 2^(dimensions that are
 * lines)).
 */
int cpl_rings_init(struct cpl_rings *rings, const struct cpl_distance *distance,
                   struct cpl_error *err);
/* Leaf at offset i of a centre leaf; -1: none of the job, or beyond a border.
 * O(dimensions). */
int cpl_rings_leaf(const struct cpl_rings *rings, int centre, int64_t i);
void cpl_rings_free(struct cpl_rings *rings);
