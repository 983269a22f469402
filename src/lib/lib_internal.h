/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exported functions: what include/commplace/ declares, over the core. Each
 * checks what it is given, calls the core and hands its error on.
 */
#ifndef CPL_LIB_LIB_INTERNAL_H
#define CPL_LIB_LIB_INTERNAL_H

#include <commplace/commplace.h>

#include "network/network.h"
#include "routing/routing.h"
#include "signature/signature.h"
#include "traffic/objective.h"
#include "traffic/traffic.h"

struct commplace_network {
	struct cpl_network *net;
};

struct commplace_signature {
	struct cpl_signature *sig;
};

struct commplace_options {
	char *routing; /* NULL: the network's */
	enum cpl_objective objective;
	uint64_t seed;
	int threads;
	double seconds; /* < 0: no limit */
	const struct commplace_traffic *background;
	int *free_node; /* [n_free]; NULL: all */
	int n_free;
	int per_rank; /* cores, or CPUs */
	bool by_cpu;
};

/* Where there are none. */
extern const struct commplace_options cpl_lib_defaults;

/* Loads of a traffic's links, for the core's requests; NULL for NULL. */
const struct cpl_load *
cpl_lib_background(const struct commplace_traffic *traffic);

/* When a search has to end. */
struct cpl_lib_deadline {
	double end; /* on the monotonic clock */
};
/* For the core's `expired`: NULL where the options set no limit. */
typedef bool cpl_lib_expired(void *deadline);
cpl_lib_expired *cpl_lib_start(const struct commplace_options *options,
                               struct cpl_lib_deadline *deadline);

/* Hand the core's error on. Always -1. */
int cpl_lib_fail(struct commplace_error *err, const struct cpl_error *why);

/* Is every node[n] a node of the network? 0, or -1 with err. */
int cpl_lib_check_nodes(const struct commplace_network *net, const int *node,
                        int n, struct cpl_error *err);

#endif
