/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-indirect by steps, for those who have the flows one by one. Over all
 * intermediate routers other than source and destination, a flow's legs are
 * the direct paths from its source to all routers and from all to its
 * destination, less two direct paths of its own: the former depend on what each
 * router sends and receives only (Jain 2016, 3.2.2; expectation instead of
 * drawn packets).
 */
#ifndef CPL_ROUTING_STATIC_INDIRECT_H
#define CPL_ROUTING_STATIC_INDIRECT_H

#include "routing/routing.h"

struct cpl_indirect {
	const struct cpl_network *net;
	double others;       /* intermediate routers of a flow */
	double *direct;      /* [n_links] bytes by static-direct */
	double *plus;        /* [n_links] those of all legs */
	double *weight[2];   /* [n_routers] sent, received */
	double *hops;        /* [n_routers] to all others together */
	double *by_group[2]; /* [groups] sums of weight */
	double *count;       /* [routers per group] */
	double *legs;        /* scratch of legs.h */
	double max_hops, direct_hop_bytes; /* of the flows so far */
	int max_direct_hops;
};

/* Bytes of scratch. */
size_t cpl_indirect_size(const struct cpl_network *net);

/* Any dragonfly. scratch is aligned as for a double. direct_only: just in->
 * direct, direct_hop_bytes and max_direct_hops are wanted. O(links + what the
 * hops of legs.h cost). */
void cpl_indirect_start(struct cpl_indirect *in, const struct cpl_network *net,
                        bool direct_only, void *scratch);

/* Two different routers, bytes > 0. O(K). */
void cpl_indirect_flow(struct cpl_indirect *in, int from, int to, double bytes);

/* Adds static-indirect's bytes of all flows to load[] and to routed. O(links +
 * what the legs of legs.h cost). */
void cpl_indirect_finish(struct cpl_indirect *in, double *load,
                         struct cpl_routed *routed);

#endif
