/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mapping: which rank runs on which of a job's nodes. */
#ifndef COMMPLACE_MAPPING_H
#define COMMPLACE_MAPPING_H

#include <stdbool.h>

#include "error.h"
#include "network.h"
#include "options.h"
#include "signature.h"

COMMPLACE_BEGIN

struct commplace_mapping;

/*
 * Lay the ranks of a signature out on distinct nodes node[n], at most
 * ranks_per_node on each, by an algorithm of commplace_mapping_algorithm()
 * ("tile:OPTION" has an option). Never worse by the objective than the default,
 * which fills the nodes in turn, unless raw. Options: routing, objective, seed,
 * threads, seconds, background, raw. NULL with err: no such algorithm or node,
 * too few nodes, a job that the algorithm cannot do, memory. The cost is the
 * algorithm's, commplace-map(1).
 */
COMMPLACE_API struct commplace_mapping *
commplace_mapping_make(const struct commplace_network *net,
                       const struct commplace_signature *signature,
                       const int *node, int n, int ranks_per_node,
                       const char *algorithm,
                       const struct commplace_options *options,
                       struct commplace_error *err);
COMMPLACE_API void commplace_mapping_free(struct commplace_mapping *mapping);

/* Node id of each rank. */
COMMPLACE_API const int *
commplace_mapping_rank_node(const struct commplace_mapping *mapping);
/* Is it the default order, since the algorithm's was no better? */
COMMPLACE_API bool
commplace_mapping_is_default(const struct commplace_mapping *mapping);
/* Largest congestion in seconds (with the background) and hop-bytes of the job,
 * in the default order and mapped. */
COMMPLACE_API double
commplace_mapping_max_before(const struct commplace_mapping *mapping);
COMMPLACE_API double
commplace_mapping_max_after(const struct commplace_mapping *mapping);
COMMPLACE_API double
commplace_mapping_hop_bytes_before(const struct commplace_mapping *mapping);
COMMPLACE_API double
commplace_mapping_hop_bytes_after(const struct commplace_mapping *mapping);

/* The i-th algorithm, NULL after the last. */
COMMPLACE_API const char *commplace_mapping_algorithm(int i);

COMMPLACE_END

#endif
