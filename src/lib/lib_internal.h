/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exported functions: what include/commplace/ declares, over the core. Each
 * checks what it is given, calls the core and hands its error on.
 */
/* Tests: * in test_library. */
#pragma once

#include <commplace/commplace.h>

#include "network/network.h"
#include "routing/routing.h"
#include "signature/signature.h"
#include "traffic/objective.h"
#include "traffic/traffic.h"

/* Networks and signatures are the core's own under another name. */
static inline const struct cpl_network *
cpl_lib_network(const struct commplace_network *network)
{
	return (const struct cpl_network *)network;
}

static inline const struct cpl_signature *
cpl_lib_signature(const struct commplace_signature *signature)
{
	return (const struct cpl_signature *)signature;
}

/* commplace_FUNCTION, which reads a value of an object. */
#define READ(type, function, object, value)                                    \
	type commplace_##function(const struct commplace_##object *object)     \
	{                                                                      \
		return value;                                                  \
	}

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
	char *mapping; /* placement's; NULL: ranks in turn */
	bool raw;
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

/* For what fails in the library itself. */
static inline struct cpl_error *cpl_lib_error(struct commplace_error *err)
{
	_Static_assert(sizeof(*err) == sizeof(struct cpl_error), "texts fit");
	return (struct cpl_error *)err;
}

/* Hand the core's error on, which may have one where nothing failed. Always
 * -1. */
int cpl_lib_fail(struct commplace_error *err, const struct cpl_error *why);
/* The same, if what was made is NULL. Returns it. */
void *cpl_lib_made(void *made, const struct cpl_error *why,
                   struct commplace_error *err);

/* Is every node[n] a node of the network? 0, or -1 with err. */
int cpl_lib_check_nodes(const struct cpl_network *net, const int *node, int n,
                        struct cpl_error *err);
/* Are all of id[n], each in 0 .. limit - 1, distinct? what: "node". */
int cpl_lib_check_distinct(const char *what, const int *id, int n, int limit,
                           struct cpl_error *err);
