/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routings: how the bytes of a flow are spread over links. One file per
 * routing, one line in routing.mk.
 */
/* Tests: * in test_routing* test_enumeration; adaptive* in test_workload;
 * dmodk in test_fattree; kinds_* in test_dragonfly_kinds; progressive* in
 * test_progressive; shortest_path table in test_graph;
 * static_indirect_sampled in test_sampled. */
#ifndef CPL_ROUTING_ROUTING_H
#define CPL_ROUTING_ROUTING_H

#include <stdbool.h>

#include "base/registry.h"
#include "graph/arena.h"
#include "network/network.h"

/*
 * What routers send each other: row i of from[n_from], in increasing order,
 * has its destinations, increasing too, in to[row[i]] .. to[row[i + 1] - 1].
 * No router to itself; bytes > 0.
 */
struct cpl_flows {
	int n_from;
	int *from;
	int64_t *row; /* [n_from + 1] */
	int *to;
	double *bytes;
};

void cpl_flows_free(struct cpl_flows *flows);

/* Of all flows routed: expectations where paths are drawn. */
struct cpl_routed {
	double hop_bytes; /* sum of bytes * links on the way */
	double max_hops;  /* mean links of the flow that goes farthest */
};

/* Bytes of links, and which of them were touched. */
struct cpl_put_on {
	double *bytes;       /* [n_links], 0 where not touched */
	unsigned char *mark; /* [n_links] is in touched */
	int *touched;        /* [*n_touched] */
	int *n_touched;
};

/* Flags of routings besides what they need of a network (enum cpl_network_has).
 */
enum cpl_routing_flags {
	CPL_ROUTING_SAMPLED = 64,   /* to compare with those of the sources; not
	                             * among "all" routings */
	CPL_ROUTING_ADAPTIVE = 128, /* all jobs together, after the others */
	CPL_ROUTING_PROGRESSIVE = 256, /* an adaptive one of networks of groups,
	                                * see progressive/progressive.h; the
	                                * others: adaptive/adaptive.h */
};

/*
 * A routing has add, when each flow's paths depend on that flow alone; solve,
 * when all flows are done faster together; or neither, when it is adaptive.
 */
struct cpl_routing {
	CPL_ENTRY; /* "static-direct", "SD"; flags: both enums */
	/* Networks that it is for; NULL: those of every type that has what its
	 * flags need. */
	const struct cpl_network_type *type;
	/*
	 * Add `bytes` from router `from` to router `to` to load[link id], the
	 * expectation over the routing's paths. from == to adds nothing. No
	 * allocation. Both routers may have nodes. O(paths * hops).
	 */
	void (*add)(const struct cpl_network *net, int from, int to,
	            double bytes, double *load);
	/*
	 * The same as a list: each link's part of the bytes, a link perhaps
	 * several times; returns how many, at most cpl_route_max(). NULL:
	 * struct cpl_route_finder finds them through add.
	 */
	int (*links)(const struct cpl_network *net, int from, int to,
	             struct cpl_share *share);
	/*
	 * The same put on links of which few are in use, of a routing all of
	 * whose parts are 1; returns the links on the way. NULL: by the list.
	 */
	int (*put)(const struct cpl_network *net, int from, int to,
	           double bytes, const struct cpl_put_on *sums);
	/* How often at the most that list has a link again, in all; NULL:
	 * never. */
	int64_t (*again)(const struct cpl_network *net);
	/*
	 * Add all flows to load[link id]. No allocation: `scratch` holds
	 * scratch_size() bytes and need not be cleared. Always the same bits
	 * for the same flows.
	 */
	void (*solve)(const struct cpl_network *net,
	              const struct cpl_flows *flows, void *scratch,
	              double *load, struct cpl_routed *routed);
	size_t (*scratch_size)(const struct cpl_network *net);
	/*
	 * Router-to-router links on the way, the expectation over the paths;
	 * without add, those of the shortest paths.
	 */
	double (*hops)(const struct cpl_network *net, int from, int to);
	/* add and hops in one, where that is less work; or NULL. */
	double (*add_hops)(const struct cpl_network *net, int from, int to,
	                   double bytes, double *load);
};

/*
 * Routing by long or short name (case-insensitive) for this network; name NULL
 * takes the network's stated routing, or the minimal one of its type where
 * none is stated. NULL with err, which lists the names that would be right.
 */
const struct cpl_routing *cpl_routing_find(const struct cpl_network *net,
                                           const char *name,
                                           struct cpl_error *err);

/*
 * The same for scheduling decisions, which evaluate many placements: where the
 * network (not `name`) states a routing that does all flows together, the type's
 * minimal routing stands in, since a decision has to take milliseconds; but not
 * for progressive-adaptive, which takes few.
 */
const struct cpl_routing *cpl_routing_find_quick(const struct cpl_network *net,
                                                 const char *name,
                                                 struct cpl_error *err);

/* The routing itself, or where it has no add the minimal one of the network: for
 * searches that go from one placement to the next by increments. */
const struct cpl_routing *
cpl_routing_by_flow(const struct cpl_network *net,
                    const struct cpl_routing *routing);

/* Links on the way between two stations (cpl_network_station), the mean over
 * their ports; where each is a router those of the routing. O(ports^2) of its
 * hops. */
double cpl_station_hops(const struct cpl_network *net,
                        const struct cpl_routing *routing, int from, int to);

/* Lists the links of one route after the other. */
struct cpl_route_finder {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	struct cpl_share *share; /* [cpl_route_max() for each two ports] */
	int *out_first;          /* [n_routers + 1] */
	int *out;                /* [n_links] links by source router */
	double *scratch;         /* [n_links], 0 between calls */
	struct cpl_arena arena;
};

/* Most entries of a list of links. */
int64_t cpl_route_max(const struct cpl_network *net,
                      const struct cpl_routing *routing);

/* For a routing that has add. 0, or -1 with err (memory). O(links). */
int cpl_route_finder_init(struct cpl_route_finder *finder,
                          const struct cpl_network *net,
                          const struct cpl_routing *routing,
                          struct cpl_error *err);
void cpl_route_finder_free(struct cpl_route_finder *finder);

/*
 * Links with their parts of the bytes between two stations, which are routers
 * where nodes have one port; *n of them, none when from is to. Of several ports
 * the paths of each two, as cpl_network_port_fraction shares the bytes out.
 * Valid until the next call. O(route), where the routing has no links O(links
 * of the routers on the way), for each two ports.
 */
const struct cpl_share *cpl_route_find(struct cpl_route_finder *finder,
                                       int from, int to, int *n);
/* The same between two routers. */
const struct cpl_share *cpl_route_find_routers(struct cpl_route_finder *finder,
                                               int from, int to, int *n);

/* The minimal routing of the network's type: its default. */
const struct cpl_routing *cpl_routing_minimal(const struct cpl_network *net);

/* Steps round a ring of n, above 0 to +, below 0 to -; ties to +. */
static inline int cpl_ring_steps(int n, int from, int to)
{
	int plus = to < from ? to - from + n : to - from;

	return 2 * plus <= n ? plus : plus - n;
}

/* All; the first that takes a network is its minimal one, the default. */
extern const struct cpl_registry cpl_routings;
/* The i-th of them, NULL behind the last. */
const struct cpl_routing *cpl_routing_at(int i);

/* Can it be used on this network? */
bool cpl_routing_takes(const struct cpl_routing *routing,
                       const struct cpl_network *net);

/* static-direct: evenly over all minimal paths (at most one global link, the
 * fewest hops among those). Jain 2016, 3.2.2. At most 4K paths of 5 hops.
 * O(K / 64 + links of the paths). */
extern const struct cpl_routing cpl_routing_static_direct;
/*
 * static-indirect (Valiant): evenly over all intermediate routers other than
 * source and destination, static-direct to it and on from it; direct where
 * there is no third router. The exact expectation: what a router sends to all
 * others and gets from all others is spread once, and the legs that start or
 * end as the direct path does are taken off. Jain 2016, 3.2.2 (there packet by
 * packet). O(flows + groups^2 + routers * routers per group) where K is 1, else
 * groups^2 times (distinct distances to the K gateways)^2 times links on the
 * shortest paths, and routers times (groups * K + routers per group).
 */
extern const struct cpl_routing cpl_routing_static_indirect;
/*
 * The same two on dragonflies whose groups differ (dragonfly_kinds.h):
 * O(K * links of a way), and O(flows + routers^2 * K).
 */
extern const struct cpl_routing cpl_routing_kinds_direct;
extern const struct cpl_routing cpl_routing_kinds_indirect;
/*
 * static-indirect-sampled: the same as Jain ran it, packet by packet, to
 * compare the expectation with: a flow's bytes go as 64 packets, each over an
 * intermediate router and shortest paths drawn at random. Draws are functions
 * of (flow, packet), so it is always the same sample. A flow's load on a link
 * strays from the expectation as 1 / sqrt(64), a link's of many flows by less.
 * O(64 * (K + hops)) a flow.
 */
extern const struct cpl_routing cpl_routing_static_indirect_sampled;
/* Adaptive routings of Jain 2016, 3.2.2: see adaptive/adaptive.h. */
extern const struct cpl_routing cpl_routing_adaptive_direct;
extern const struct cpl_routing cpl_routing_adaptive_indirect;
extern const struct cpl_routing cpl_routing_adaptive_hybrid;
/* progressive-adaptive: see progressive/progressive.h. */
extern const struct cpl_routing cpl_routing_progressive_adaptive;
/* haec-box: a wireless link straight to the column of the destination, then
 * board by board; on one board the shorter way round, x first, ties to +.
 * Sharunov 2016, appendix. */
extern const struct cpl_routing cpl_routing_haec;
/* dmodk: destination-modulo of a parallel-port generalised fat tree. Zahavi
 * 2012, "Fat-tree routing and node ordering providing contention free
 * traffic". Evenly over the routes to the router's nodes. O(nodes of
 * the router * levels). */
extern const struct cpl_routing cpl_routing_dmodk;
/* shortest-path: fewest hops; of those the lowest next router at each step;
 * evenly over the links to it. */
extern const struct cpl_routing cpl_routing_shortest_path;
/*
 * ecmp (equal-cost multipath): evenly over all paths of fewest hops, parallel
 * links being paths of their own; from the type's formula. O(links of the
 * paths).
 */
extern const struct cpl_routing cpl_routing_ecmp;
/*
 * The same where there is no formula: a search from each router that sends,
 * then bytes from the farthest routers back in proportion to the paths that
 * lead there (Brandes 2001, "A faster algorithm for betweenness centrality",
 * with bytes for ones). O(links) for each router that sends, without a table.
 */
extern const struct cpl_routing cpl_routing_ecmp_graph;
/* table: evenly over the routes that the file gives for the flow. */
extern const struct cpl_routing cpl_routing_table;
/* dimension-order: dimension 0 first, the shorter way round, ties to +. */
extern const struct cpl_routing cpl_routing_dimension_order;
/*
 * adaptive-minimal: evenly over all shortest paths, half way round a ring in
 * both directions. The share of a link is that of the paths through it,
 * counted in closed form. O(routers of the box between the two * dimensions).
 */
extern const struct cpl_routing cpl_routing_adaptive_minimal;

#endif
