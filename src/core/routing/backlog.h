/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routings whose packets choose their way by what waits on it, as switches do that
 * adapt, for one or several jobs at once: what the links carry when all of their
 * flows are sent together, each in CPL_BACKLOG_PACKETS packets. Packet k of all
 * flows goes before packet k + 1 of any, job by job, and sees what was sent before
 * it: on each link the seconds that this takes, the bytes of others among it,
 * which come at the same pace. Nothing is delivered meanwhile: where all is sent at
 * once, that a queue is longer than another one does not depend on it.
 *
 * The simulation of packets has the same rules under the same names
 * (simulate/packet_route.c): "adaptive" at each router the least loaded link of a
 * shortest way (on a fat tree, adaptive_up.c, with what waits on the way back down from
 * there: a queue before that fills buffers down to who chooses), "ugal-g" a minimal path
 * or one over another router, both drawn, whichever has less before it on all of its
 * links (Singh 2005; Kim, Dally, Scott, Abts, ISCA 2008). How near it comes: doc/reproduction/time.md.
 */
#pragma once

#include <stdint.h>

#include "routing/routing.h"

/* Packets of a flow: with twice as many no time in doc/reproduction/time.md is told
 * better. */
#define CPL_BACKLOG_PACKETS 16

/* What was sent so far. */
struct cpl_backlog {
	const struct cpl_network *net;
	struct cpl_route_finder minimal; /* of the network's minimal routing */
	double *seconds;                 /* [n_links] that it takes */
	double *load;                    /* [n_links] the jobs' bytes */
};

struct cpl_queued {
	int from, to; /* routers, not the same */
	double bytes;
	int number; /* of the flow's packets */
};

/* Puts bytes on a link. */
static inline void cpl_backlog_put(struct cpl_backlog *q, int64_t link,
                                  double bytes)
{
	q->load[link] += bytes;
	q->seconds[link] += bytes / cpl_network_link_bandwidth(q->net, link);
}

/* Links of a shortest way: the hops of such routings, which depend on all that is
 * sent. */
double cpl_backlog_hops(const struct cpl_network *net, int from, int to);

/*
 * Adds the jobs' bytes to load[link id]; what is there already belongs to others.
 * 0, or -1 with err (memory). The same input yields the same bits. O(packets of all
 * flows * what one costs: with "adaptive" links of its way * dimensions or ports, with
 * "ugal-g" links of all minimal paths * those of one) and 8 bytes for each flow.
 */
int cpl_backlog_solve(const struct cpl_network *net,
                     struct cpl_adaptive_job *job, int n, double *load,
                     struct cpl_error *err);
