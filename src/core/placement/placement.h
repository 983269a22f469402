/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement policies: which free nodes a job gets, in rank order. A new one
 * is a file and a line in placement.mk (Jain 2016, 3.2.3).
 */
/* Tests: * in test_placement; judge* searches wish in test_decide*; groups
 * segments in test_groups; unit* in
 * test_decide_units. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"
#include "network/network.h"
#include "routing/routing.h"
#include "graph/comm.h"
#include "graph/rank_grid.h"
#include "traffic/traffic.h"

struct cpl_bounds;

/* Random orders of a network's units, which depend on the seed alone: kept, requests
 * that follow each other make them once. One thread at a time; starts as {0}. */
#define CPL_ORDERS 16
struct cpl_orders {
	struct cpl_kept_order {
		int *unit; /* [n], or NULL */
		int n;
		uint64_t seed, stream;
	} kept[CPL_ORDERS];
	int next;
};
void cpl_orders_free(struct cpl_orders *orders);

struct cpl_placement_request {
	const struct cpl_network *net;
	const unsigned char *free; /* [n_nodes], 1: may be chosen */
	int n_nodes_wanted;        /* 1 .. number of free nodes */
	const int *required;       /* node ids that must be in the set; each is
	                            * free; [n_required] */
	int n_required;            /* <= n_nodes_wanted */
	uint64_t seed;
	struct cpl_orders *orders; /* or NULL: none are kept */
	const char *option; /* cpl_placement_option of the policy's name */
	/* The groups in which the job's ranks communicate, with their traffic (or
	 * NULL) and so many ranks on each node; n 0: not known. */
	struct cpl_rank_grid grid;
	const struct cpl_comm *comm;
	int ranks_per_node;
	/* Of a decision whose work is limited (decide.h), what each of four searches
	 * of a policy that searches may take; 0: as much as it likes. */
	long work;
	/* What the set must keep, or NULL. No policy looks at it: what they
	 * choose is made to fit (bounds.h). */
	const struct cpl_bounds *bounds;
};

enum cpl_placement_flags {
	CPL_PLACEMENT_RANDOM = 1, /* depends on the seed */
	/* Evaluates what the others find, for the job's traffic: see decide.h;
	 * has no place. */
	CPL_PLACEMENT_SEARCH = 2,
	/* A site's wish for its jobs, whatever their traffic: no candidate of
	 * the searches. */
	CPL_PLACEMENT_CLASS = 4,
};

struct cpl_placement_policy {
	CPL_ENTRY; /* "random-routers", "RDR" */
	/* What a network's type must have: levels of units, and whatever else
	 * (NULL: nothing). */
	const char *levels[2];
	bool (*takes)(const struct cpl_network_type *type);
	/* Is that option (NULL: none) good on this network (NULL: on any)?
	 * 0, or -1 with err. NULL: the policy takes none. */
	int (*check)(const struct cpl_network *net, const char *option,
	             struct cpl_error *err);
	/*
	 * Write n_nodes_wanted distinct free node ids in rank order to out,
	 * required ones among them. 0, or -1 with err (memory, or there is
	 * nothing that the policy allows). Policies are pure functions of the
	 * request. O(n_nodes log n_nodes) or better unless the file says
	 * otherwise.
	 */
	int (*place)(const struct cpl_placement_request *req, int *out,
	             struct cpl_error *err);
};

/* All, in the order of candidates under "auto": linear is the baseline and
 * comes first; the searches last. */
extern const struct cpl_registry cpl_placements;
/* What they are called: entries that are no policies. */
extern const struct cpl_registry cpl_placement_names;
/* The i-th of them, NULL behind the last. */
const struct cpl_placement_policy *cpl_placement_at(int i);

/* Can the policy choose on networks of the type? */
bool cpl_placement_takes(const struct cpl_placement_policy *policy,
                         const struct cpl_network_type *type);

/*
 * Policy by long or short name for this network type (NULL: for any),
 * case-insensitive, or "name:option". NULL with err listing the right names, or
 * saying what is wrong with the option wherever it would be.
 */
const struct cpl_placement_policy *
cpl_placement_find(const struct cpl_network_type *type, const char *name,
                   struct cpl_error *err);
/* The text after the first colon of such a name, or NULL; points into name. */
const char *cpl_placement_option(const char *name);
/* Is such a name, as a record has it, that of a search, which needs to know the
 * job's traffic? */
bool cpl_placement_is_search(const char *name);

/* Is the policy for this network, and its option good there? 0, or -1 with err.
 */
int cpl_placement_check(const struct cpl_network *net,
                        const struct cpl_placement_policy *policy,
                        const char *option, struct cpl_error *err);

/* What each policy's place() asks for: as many free nodes as are wanted, and
 * the required ones among them. 0, or -1 with err. O(nodes). */
int cpl_placement_check_request(const struct cpl_placement_request *req,
                                struct cpl_error *err);

/* Index into req->required of the first that is not among node[n_nodes_wanted],
 * or -1: all are. O(n_required * n_nodes_wanted). */
int cpl_placement_missing(const struct cpl_placement_request *req,
                          const int *node);

/*
 * The rule for required nodes, by which every policy ends. Policies choose as
 * if nothing were required. Let m required nodes be missing from out: the last
 * m chosen nodes that are not required are dropped, and the missing ones take
 * their positions in increasing id order; all others keep their place in rank
 * order. 0, or -1 with err (memory). O(n_nodes).
 */
int cpl_placement_require(const struct cpl_placement_request *req, int *out,
                          struct cpl_error *err);

/* Those that others ask for by themselves. */
extern const struct cpl_placement_policy cpl_placement_linear,
        cpl_placement_random_nodes, cpl_placement_round_robin_nodes,
        cpl_placement_best_fit, cpl_placement_auto, cpl_placement_traffic,
        cpl_placement_blocked, cpl_placement_keep_whole, cpl_placement_groups,
        cpl_placement_compact, cpl_placement_segments;
/* A candidate that a request brings along, see decide.h; in no table. */
extern const struct cpl_placement_policy cpl_placement_stock;
/* That of cpl_repair, for which nobody can ask. */
extern const struct cpl_placement_policy cpl_placement_repair;
