/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routings whose packets choose their way by what waits on it, as switches do that
 * adapt, for one or several jobs at once: what the links carry when all of their
 * flows are sent together, each in packets of CPL_BACKLOG_PACKET bytes, but
 * CPL_BACKLOG_PACKETS of them at the most. Nodes send them evenly in the time that the
 * busiest port takes, in CPL_BACKLOG_PACKETS turns, job by job, and the bytes of others
 * come at the same pace. A packet sees what was sent before it and still waits on each
 * link, in seconds (Lindley's recursion; Kleinrock, Queueing Systems 1, 8.1).
 *
 * The simulation of packets has the same rules under the same names
 * (simulate/packet_route.c): "adaptive" at each router the least loaded link of a
 * shortest way, where a queue on the links after it that can still be taken fills buffers
 * down to who chooses (on a fat tree, adaptive_up.c, the way back down from there, on
 * products, adaptive_hops.c, half of the next link), "ugal-g" a minimal path or one over
 * another router, both drawn, whichever has less before it on all of its links (Singh
 * 2005; Kim, Dally, Scott, Abts, ISCA 2008). How near it comes: doc/reproduction/time.md.
 */
#pragma once

#include <stdint.h>

#include "routing/routing.h"

/* Bytes of a packet. */
#define CPL_BACKLOG_PACKET 4096.0
/* The most packets of a flow: with twice as many no time in doc/reproduction/time.md is
 * told better, with half of them "ugal-g" finds less room beside the minimal paths. */
#define CPL_BACKLOG_PACKETS 64

/* What was sent so far. */
struct cpl_backlog {
	const struct cpl_network *net;
	struct cpl_route_finder minimal; /* of the network's minimal routing */
	double now;                      /* seconds since it began */
	double *until;                   /* [n_links] when all of that has passed */
	double *load;                    /* [n_links] the jobs' bytes */
};

struct cpl_queued {
	int from, to; /* routers, not the same */
	double bytes;
	int number; /* of the flow's packets */
};

/* Seconds that a packet waits for what is before it on a link. */
static inline double cpl_backlog_wait(const struct cpl_backlog *q, int64_t link)
{
	return q->until[link] > q->now ? q->until[link] - q->now : 0;
}

/* Bytes come to a link, of whomever. */
static inline void cpl_backlog_come(struct cpl_backlog *q, int64_t link,
                                    double bytes)
{
	q->until[link] = q->now + cpl_backlog_wait(q, link) +
	                 bytes / cpl_network_link_bandwidth(q->net, link);
}

/* Puts bytes of the jobs on a link. */
static inline void cpl_backlog_put(struct cpl_backlog *q, int64_t link,
                                  double bytes)
{
	q->load[link] += bytes;
	cpl_backlog_come(q, link, bytes);
}

/* Links of a shortest way: the hops of such routings, which depend on all that is
 * sent. */
double cpl_backlog_hops(const struct cpl_network *net, int from, int to);

/*
 * Adds the jobs' bytes to load[link id]; what is there already belongs to others.
 * `seconds`: in which nodes send all of it, 0 at once. 0, or -1 with err (memory). The same
 * input yields the same bits. O(packets of all flows * what one costs: with "adaptive" links
 * of its way * ports, on products * dimensions^2, with "ugal-g" links of all minimal paths *
 * those of one) and 8 bytes for each flow.
 */
int cpl_backlog_solve(const struct cpl_network *net,
                     struct cpl_adaptive_job *job, int n, double seconds,
                     double *load, struct cpl_error *err);
