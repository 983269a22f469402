/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Placement: which nodes a job gets, as the scheduler would choose them. */
#ifndef COMMPLACE_PLACEMENT_H
#define COMMPLACE_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "network.h"
#include "options.h"
#include "signature.h"

COMMPLACE_BEGIN

struct commplace_placement;

/*
 * Choose n nodes by a policy, one of commplace_placement_policy_name(), for the
 * ranks of a signature in turn, ranks_per_node on each. Options: routing,
 * objective, seed, seconds, background, free nodes, rank mapping. NULL with err: no such
 * policy, too few free nodes, ranks that do not fit, memory. The cost is that
 * of the policy's candidates (1; "auto": up to 30), each placed and evaluated;
 * "traffic" searches on from there.
 */
COMMPLACE_API struct commplace_placement *
commplace_placement_choose(const struct commplace_network *net,
                           const struct commplace_signature *signature, int n,
                           int ranks_per_node, const char *policy,
                           const struct commplace_options *options,
                           struct commplace_error *err);
COMMPLACE_API void
commplace_placement_free(struct commplace_placement *placement);

/* Node ids in rank order, as many as were asked for. */
COMMPLACE_API const int *
commplace_placement_nodes(const struct commplace_placement *placement);
/* Node id of each rank as it was judged, NULL where ranks go in turn. */
COMMPLACE_API const int *
commplace_placement_rank_node(const struct commplace_placement *placement);
/* The policy whose candidate was taken. */
COMMPLACE_API const char *
commplace_placement_policy(const struct commplace_placement *placement);
/* For the placement with the background: the largest and the mean congestion in
 * seconds, and the job's own hop-bytes. */
COMMPLACE_API double
commplace_placement_max_congestion(const struct commplace_placement *placement);
COMMPLACE_API double
commplace_placement_mean_congestion(
	const struct commplace_placement *placement);
COMMPLACE_API double
commplace_placement_hop_bytes(const struct commplace_placement *placement);

/* A candidate: the policy and the seed that it came of, and the numbers above with
 * ranks in turn, 0 where it was not evaluated. mapped_max_congestion is that of the
 * rank mapping, -1 where it was not judged so. */
struct commplace_candidate {
	const char *policy;
	uint64_t seed;
	double max_congestion, mean_congestion, hop_bytes;
	double mapped_max_congestion;
	bool evaluated, chosen;
};
/* The i-th candidate. 0, or -1 where there is none. */
COMMPLACE_API int
commplace_placement_candidate(const struct commplace_placement *placement,
                              int i, struct commplace_candidate *out);

/* The i-th policy for this network, NULL after the last. */
COMMPLACE_API const char *
commplace_placement_policy_name(const struct commplace_network *net, int i);

COMMPLACE_END

#endif
