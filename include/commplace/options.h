/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of choosing nodes, mapping and binding, beyond the arguments that
 * these need. Where NULL is given instead of options, the defaults in the
 * comments hold.
 */
#ifndef COMMPLACE_OPTIONS_H
#define COMMPLACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

COMMPLACE_BEGIN

struct commplace_options;
struct commplace_traffic;

/* NULL with err (memory). */
COMMPLACE_API struct commplace_options *
commplace_options_new(struct commplace_error *err);
COMMPLACE_API void commplace_options_free(struct commplace_options *options);

/* Each returns 0, or -1 with err. Names and lists are copied; names that depend
 * on the network are checked where they are used. */

/* A routing's long or short name; default: the network's own, for which the
 * minimal one of the type stands in where it is adaptive. */
COMMPLACE_API int commplace_options_routing(struct commplace_options *options,
                                            const char *name,
                                            struct commplace_error *err);
/* "max-congestion" (default), "mean-congestion", "hop-bytes", "busiest",
 * "time"; or, for placement, "interference" (slowdowns, own and done, in equal
 * parts) and "isolation" (links shared, then time), to which the background is
 * one job that sends as fast as its busiest link lets it. */
COMMPLACE_API int commplace_options_objective(struct commplace_options *options,
                                              const char *name,
                                              struct commplace_error *err);
/* The seed of all random choices; default 1. */
COMMPLACE_API int commplace_options_seed(struct commplace_options *options,
                                         uint64_t seed,
                                         struct commplace_error *err);
/* Threads of a mapping, 1 (default) and more. No result depends on them. */
COMMPLACE_API int commplace_options_threads(struct commplace_options *options,
                                            int threads,
                                            struct commplace_error *err);
/* Seconds after which a search ends with the best so far; default: none. What
 * is found depends on the machine's speed then. */
COMMPLACE_API int commplace_options_seconds(struct commplace_options *options,
                                            double seconds,
                                            struct commplace_error *err);
/* The evaluated traffic of jobs that run already. It is not copied, and has to
 * live as long as the options. */
COMMPLACE_API int
commplace_options_background(struct commplace_options *options,
                             const struct commplace_traffic *background,
                             struct commplace_error *err);
/* Placement: node ids to choose from; default: all nodes of the network. */
COMMPLACE_API int commplace_options_free_nodes(struct commplace_options *options,
                                               const int *node, int n,
                                               struct commplace_error *err);
/* Placement: candidates are judged with the rank order that this algorithm of
 * commplace_mapping_algorithm() makes; default: ranks in turn. */
COMMPLACE_API int
commplace_options_rank_mapping(struct commplace_options *options,
                               const char *algorithm,
                               struct commplace_error *err);
/* Mapping: take what the algorithm makes even where the default order is better.
 */
COMMPLACE_API int commplace_options_raw(struct commplace_options *options,
                                        bool raw, struct commplace_error *err);
/* Binding: cores of each rank (default 1), or hardware threads of each, when
 * ranks may share a core. The later of the two calls holds. */
COMMPLACE_API int
commplace_options_cores_per_rank(struct commplace_options *options, int cores,
                                 struct commplace_error *err);
COMMPLACE_API int
commplace_options_cpus_per_rank(struct commplace_options *options, int cpus,
                                struct commplace_error *err);

COMMPLACE_END

#endif
