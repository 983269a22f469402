/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a job's messages take where they queue on several links of their way.
 *
 * The busiest link alone says too little where messages wait on more than one: from
 * packet to packet none of them is always busy, and what waits behind others on the
 * first link comes late to the next. A flow between two nodes takes
 *
 *	(o^4 + sum over its links of part * (t^4 - own^4)) ^ (1/4)
 *
 * with t the seconds that a link's bytes take, own those of the flow's bytes there,
 * part the part of the flow that takes the link, and o the flow's most on a link: what
 * it does not share does not make it queue. So a link that nobody else is on counts
 * once, however long the way, two links as busy as each other count as 1.19 of one,
 * and small loads beside a large one hardly at all. The job takes what its slowest
 * flow does.
 *
 * The power was found by packet simulations, of which it orders and tells most
 * (doc/reproduction/time.md): with 3 the seconds are too long, with 6 the order is
 * that of the busiest link.
 */
#pragma once

#include "graph/comm.h"
#include "routing/routing.h"
#include "traffic/traffic.h"

struct cpl_queues {
	const struct cpl_network *net;
	const struct cpl_routing *routing; /* by flow */
	const struct cpl_comm *comm;       /* of hosts; messages may be NULL */
	const int *node;                   /* [comm->ranks] of each host */
	const struct cpl_load *load;       /* bytes, with the job's */
	const struct cpl_load *others;     /* more bytes, or NULL */
};

/* Seconds of the slowest flow, 0 where nothing is sent between nodes. What ranks
 * send over ports of their own counts evenly over those of the node, and what stays
 * in a domain of accelerators does not queue. 0, or -1 with err (memory). O(links +
 * pairs of hosts * links of a route). */
int cpl_queues_seconds(const struct cpl_queues *queues, double *seconds,
                       struct cpl_error *err);
