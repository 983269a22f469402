/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-indirect by steps, for callers that have the flows one by one. Over
 * all intermediate routers other than source and destination, a flow's legs are
 * the direct paths from its source to all routers and from all to its
 * destination, less two direct paths of its own. The former depend only on what
 * each router sends and receives (Jain 2016, 3.2.2; the expectation instead of
 * drawn packets).
 */
#pragma once

#include "routing/routing.h"

struct cpl_indirect {
	const struct cpl_network *net;
	double others;       /* intermediate routers of a flow */
	double *direct;      /* [n_links] bytes by static-direct */
	double *plus;        /* [n_links] bytes of all legs */
	double *weight[2];   /* [n_routers] sent, received */
	double *hops;        /* [n_routers] to all others together */
	double *by_group[2]; /* [groups] sums of weight */
	double *count;       /* [routers per group] */
	double *legs;        /* scratch of legs.h */
	double max_hops, direct_hop_bytes; /* of all flows so far */
	int max_direct_hops;
};

/* The bytes of scratch. */
size_t cpl_indirect_size(const struct cpl_network *net);

/* Takes any dragonfly; scratch is aligned as for a double. With direct_only
 * only in->direct, direct_hop_bytes and max_direct_hops are computed. O(links +
 * the cost of the hops of legs.h). */
void cpl_indirect_start(struct cpl_indirect *in, const struct cpl_network *net,
                        bool direct_only, void *scratch);

/* Adds a flow between two different routers, bytes > 0. O(K). */
void cpl_indirect_flow(struct cpl_indirect *in, int from, int to, double bytes);

/* Adds static-indirect's bytes of all flows to load[] and to routed. O(links +
 * the cost of the legs of legs.h). */
void cpl_indirect_finish(struct cpl_indirect *in, double *load,
                         struct cpl_routed *routed);
