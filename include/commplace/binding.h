/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binding: which CPUs of one node each of its ranks gets. */
#ifndef COMMPLACE_BINDING_H
#define COMMPLACE_BINDING_H

#include "error.h"
#include "options.h"
#include "signature.h"

COMMPLACE_BEGIN

struct commplace_binding;

/*
 * Bind rank[n], distinct ranks of a signature, to the CPUs of a node by an
 * algorithm of commplace_binding_algorithm(). topology: the path of an hwloc XML
 * file (ends in ".xml"), a synthetic description ("pack:2 l3:2 core:4 pu:2"), or
 * NULL: this machine. Never costs more than packed order. Options: cores or
 * CPUs of each rank. NULL with err: no such algorithm or rank, a topology that
 * hwloc refuses, more ranks than cores, memory. The cost is the algorithm's,
 * commplace-bind(1); that of hwloc's own discovery comes to it.
 */
COMMPLACE_API struct commplace_binding *
commplace_binding_make(const struct commplace_signature *signature,
                       const int *rank, int n, const char *topology,
                       const char *algorithm,
                       const struct commplace_options *options,
                       struct commplace_error *err);
COMMPLACE_API void commplace_binding_free(struct commplace_binding *binding);

/* CPUs of the i-th of the ranks that were given, as the operating system numbers
 * them, in increasing order; the count goes to *n. NULL where there is no such
 * rank. */
COMMPLACE_API const int *
commplace_binding_cpus(const struct commplace_binding *binding, int i, int *n);
/* Bytes times distance in the topology's tree, over all pairs of the ranks; and
 * the same in packed order. */
COMMPLACE_API double
commplace_binding_cost(const struct commplace_binding *binding);
COMMPLACE_API double
commplace_binding_cost_packed(const struct commplace_binding *binding);

/* The i-th algorithm, NULL after the last. */
COMMPLACE_API const char *commplace_binding_algorithm(int i);

COMMPLACE_END

#endif
