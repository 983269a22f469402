/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes that jobs put on every link when all their messages are in flight.
 * Make it, add jobs, evaluate, read. Jobs with adaptive routings adapt to all
 * others.
 */
#ifndef COMMPLACE_TRAFFIC_H
#define COMMPLACE_TRAFFIC_H

#include <stdint.h>

#include "error.h"
#include "network.h"
#include "signature.h"

COMMPLACE_BEGIN

struct commplace_traffic;

/* Number of links, and six numbers of their bytes; quartiles are interpolated
 * between order statistics. used: links with more than 0 bytes. */
struct commplace_numbers {
	int64_t count, used;
	double min, q1, median, mean, q3, max;
};

/* These stand for a link class. Injection and ejection are the cables from
 * nodes to routers and back. */
enum {
	COMMPLACE_ALL_LINKS = -1,
	COMMPLACE_INJECTION = -2,
	COMMPLACE_EJECTION = -3,
};

/* The network has to live as long as the traffic. threads: 1 and more; no
 * result depends on them. NULL with err. */
COMMPLACE_API struct commplace_traffic *
commplace_traffic_new(const struct commplace_network *net, int threads,
                      struct commplace_error *err);
COMMPLACE_API void commplace_traffic_free(struct commplace_traffic *traffic);

/*
 * Add a job whose ranks fill node[n] in turn, ranks_per_node on each; the last
 * that is needed may have fewer. routing: long or short name; NULL: the
 * network's own. Returns the job's number, from 0 on, or -1 with err: no such
 * routing or node, too few nodes, memory, already evaluated. The cost is that
 * of the messages between nodes times the length of their routes.
 */
COMMPLACE_API int
commplace_traffic_add(struct commplace_traffic *traffic,
                      const struct commplace_signature *signature,
                      const int *node, int n, int ranks_per_node,
                      const char *routing, struct commplace_error *err);
/* The same with rank r on node rank_node[r]; as many as the signature has. */
COMMPLACE_API int
commplace_traffic_add_ranks(struct commplace_traffic *traffic,
                            const struct commplace_signature *signature,
                            const int *rank_node, const char *routing,
                            struct commplace_error *err);

/* Evaluate once, after all jobs are added. Returns 0, or -1 with err (memory).
 * Until then all numbers below are 0. */
COMMPLACE_API int commplace_traffic_evaluate(struct commplace_traffic *traffic,
                                             struct commplace_error *err);

/* Congestion of links in seconds: the largest, the mean over all, mean and
 * variance over those that carry bytes, the largest of a node's own. O(1). */
COMMPLACE_API double
commplace_traffic_max_congestion(const struct commplace_traffic *traffic);
COMMPLACE_API double
commplace_traffic_mean_congestion(const struct commplace_traffic *traffic);
COMMPLACE_API double
commplace_traffic_nonzero_average(const struct commplace_traffic *traffic);
COMMPLACE_API double
commplace_traffic_nonzero_variance(const struct commplace_traffic *traffic);
COMMPLACE_API double
commplace_traffic_max_injection(const struct commplace_traffic *traffic);

/* Numbers of one job, 0 where there is no such job: bytes times the links that
 * they pass, bytes that leave their node, bytes that do not, links that the
 * farthest pair of ranks is apart. O(1). */
COMMPLACE_API double
commplace_traffic_hop_bytes(const struct commplace_traffic *traffic, int job);
COMMPLACE_API double
commplace_traffic_bytes_on_network(const struct commplace_traffic *traffic,
                                   int job);
COMMPLACE_API double
commplace_traffic_bytes_in_node(const struct commplace_traffic *traffic,
                                int job);
COMMPLACE_API double
commplace_traffic_max_dilation(const struct commplace_traffic *traffic,
                               int job);

/* The numbers of a link class, or of one of the enumeration above. 0, or -1
 * with err: no such class, memory. O(links). */
COMMPLACE_API int
commplace_traffic_numbers(const struct commplace_traffic *traffic, int class_id,
                          struct commplace_numbers *out,
                          struct commplace_error *err);

/* Bytes by link id, by node id from the node, by node id to the node. */
COMMPLACE_API const double *
commplace_traffic_link_bytes(const struct commplace_traffic *traffic);
COMMPLACE_API const double *
commplace_traffic_injection_bytes(const struct commplace_traffic *traffic);
COMMPLACE_API const double *
commplace_traffic_ejection_bytes(const struct commplace_traffic *traffic);

COMMPLACE_END

#endif
