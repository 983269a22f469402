/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A routing says how the bytes of a flow are spread over links. Each routing is
 * a file, and a line in routing.mk.
 */
/* Tests: * in test_routing* test_enumeration; adaptive* in test_workload;
 * dmodk in test_fattree; kinds_* in test_dragonfly_kinds; progressive* in
 * test_progressive; shortest_path table in test_graph;
 * static_indirect_sampled in test_sampled; adaptive_hops adaptive_up ugal in test_backlog;
 * o1turn in test_enumeration. */
#pragma once

#include <stdbool.h>

#include "base/registry.h"
#include "graph/arena.h"
#include "network/network.h"

/* The traffic between routers: row i, of router from[i] (n_from of them, in
 * increasing order), has its destinations, increasing too, in to[row[i]] ..
 * to[row[i + 1] - 1]. No router sends to itself; bytes > 0. */
struct cpl_flows {
	int n_from;
	int *from;
	int64_t *row; /* [n_from + 1] */
	int *to;
	double *bytes;
};

void cpl_flows_free(struct cpl_flows *flows);

/* Sums over all flows routed, expectations where paths are drawn. */
struct cpl_routed {
	double hop_bytes; /* sum of bytes * links on their paths */
	double max_hops;  /* mean links of the flow that goes farthest */
};

/* A job of those that an adaptive routing takes together. */
struct cpl_adaptive_job {
	const struct cpl_flows *flows;
	const struct cpl_routing *routing;
	struct cpl_routed routed; /* out */
};

/* See backlog.h. */
struct cpl_backlog;
struct cpl_queued;

/* The bytes of links, and which links were touched. */
struct cpl_put_on {
	double *bytes;       /* [n_links], 0 where not touched */
	unsigned char *mark; /* [n_links] whether it is in touched */
	int *touched;        /* [*n_touched] */
	int *n_touched;
};

/* Routings have these flags and those of their needs (enum cpl_network_has). */
enum cpl_routing_flags {
	CPL_ROUTING_SAMPLED = 64,   /* a copy of another source's, to compare
	                             * with; not among "all" routings */
	CPL_ROUTING_ADAPTIVE = 128, /* it takes all jobs together, after the
	                             * others */
	CPL_ROUTING_PROGRESSIVE = 256, /* it is adaptive, for networks of groups
	                                * (progressive/progressive.h); others:
	                                * adaptive/adaptive.h, or backlog.h where
	                                * it has send */
	CPL_ROUTING_TWO_WAYS = 512, /* its packets choose between two ways that are
	                             * drawn, not among all */
};

/* A routing has add where each flow's paths depend on that flow alone, solve
 * where all flows are faster done together, and neither where it is
 * adaptive. */
struct cpl_routing {
	CPL_ENTRY; /* "static-direct", "SD"; flags: both enums */
	/* Its networks; NULL: those of all types with what its flags need. */
	const struct cpl_network_type *type;
	/* Adds `bytes` from router `from` to router `to` to load[link id], the
	 * expectation over the routing's paths; from == to adds nothing. Both
	 * routers may have nodes. It allocates nothing. O(paths * hops). */
	void (*add)(const struct cpl_network *net, int from, int to,
	            double bytes, double *load);
	/* Lists each link's part of the bytes, perhaps with a link several
	 * times, and returns the number of entries, at most cpl_route_max().
	 * NULL: struct cpl_route_finder finds them through add. */
	int (*links)(const struct cpl_network *net, int from, int to,
	             struct cpl_share *share);
	/* Puts bytes on links of which few are in use, for a routing whose
	 * parts are all 1; returns the links of the path. NULL: the list is
	 * used. */
	int (*put)(const struct cpl_network *net, int from, int to,
	           double bytes, const struct cpl_put_on *sums);
	/* The most repetitions of links in that list; NULL: there are none. */
	int64_t (*again)(const struct cpl_network *net);
	/* Adds all flows to load[link id]. It allocates nothing: `scratch` has
	 * scratch_size() bytes and need not be cleared. The same flows always
	 * yield the same bits. */
	void (*solve)(const struct cpl_network *net,
	              const struct cpl_flows *flows, void *scratch,
	              double *load, struct cpl_routed *routed);
	size_t (*scratch_size)(const struct cpl_network *net);
	/* Sends a packet, which chooses its way by what was sent before it, and
	 * returns the links of that (backlog.h). */
	double (*send)(struct cpl_backlog *before,
	               const struct cpl_queued *packet);
	/* Whether packets had another link than this one to choose; NULL: always. */
	bool (*chooses)(const struct cpl_network *net, int64_t link);
	/* Without add: what comes nearest to it by flow (cpl_routing_by_flow); NULL:
	 * the minimal one. */
	const struct cpl_routing *by_flow;
	/* The links of a flow's path between routers, the expectation over
	 * paths; without add, over the shortest paths. */
	double (*hops)(const struct cpl_network *net, int from, int to);
	/* Does add and hops in one, where that is less work; or NULL. */
	double (*add_hops)(const struct cpl_network *net, int from, int to,
	                   double bytes, double *load);
};

/* The routing of that long or short name (case-insensitive) for this network.
 * With name NULL it is the network's stated routing, or the minimal one of its
 * type where none is stated. NULL with err, which lists the names that would be
 * right. */
const struct cpl_routing *cpl_routing_find(const struct cpl_network *net,
                                           const char *name,
                                           struct cpl_error *err);

/* The same for scheduling decisions, which evaluate many placements within
 * milliseconds: where the network (not `name`) states a routing that does all
 * flows together, cpl_routing_by_flow stands in. progressive-adaptive is
 * fast enough and has no stand-in. */
const struct cpl_routing *cpl_routing_find_quick(const struct cpl_network *net,
                                                 const char *name,
                                                 struct cpl_error *err);

/* The routing itself or, where it has no add, what it names by_flow, or else the minimal
 * one of the network, for searches that go from one placement to the next by increments. */
const struct cpl_routing *
cpl_routing_by_flow(const struct cpl_network *net,
                    const struct cpl_routing *routing);

/* The links between two stations (cpl_network_station): the mean over their
 * ports, or the routing's hops where each is a router. O(ports^2) of its
 * hops. */
double cpl_station_hops(const struct cpl_network *net,
                        const struct cpl_routing *routing, int from, int to);

/* Lists the links of routes, one route after the other. */
struct cpl_route_finder {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	struct cpl_share *share; /* [cpl_route_max() for each two ports] */
	int *out_first;          /* [n_routers + 1] */
	int *out;                /* [n_links] links by source router */
	double *scratch;         /* [n_links], 0 between calls */
	struct cpl_arena arena;
};

/* The most entries of a list of links. */
int64_t cpl_route_max(const struct cpl_network *net,
                      const struct cpl_routing *routing);

/* It must have add. Returns 0, or -1 with err (memory), in O(links). */
int cpl_route_finder_init(struct cpl_route_finder *finder,
                          const struct cpl_network *net,
                          const struct cpl_routing *routing,
                          struct cpl_error *err);
void cpl_route_finder_free(struct cpl_route_finder *finder);

/* Lists the links between two stations (routers, where nodes have one port)
 * with their parts of the bytes. *n is their number, 0 when from is to. With
 * several ports there are paths for each two, with parts by
 * cpl_network_port_fraction. The list is valid until the next call. For each
 * two ports it costs O(route), or without the routing's links O(links of the
 * routers on the path). */
const struct cpl_share *cpl_route_find(struct cpl_route_finder *finder,
                                       int from, int to, int *n);
/* The same between two routers. */
const struct cpl_share *cpl_route_find_routers(struct cpl_route_finder *finder,
                                               int from, int to, int *n);

/* The minimal routing of the network's type, which is its default. */
const struct cpl_routing *cpl_routing_minimal(const struct cpl_network *net);

/* Steps round a ring of n, above 0 towards +, below 0 towards -; ties to +. */
static inline int cpl_ring_steps(int n, int from, int to)
{
	int plus = to < from ? to - from + n : to - from;

	return 2 * plus <= n ? plus : plus - n;
}

/* The same in one dimension of a torus or mesh. */
static inline int cpl_dimension_steps(const struct cpl_product *torus, int d,
                                      int from, int to)
{
	return torus->wrap[d] ? cpl_ring_steps(torus->dim[d], from, to)
	                      : to - from;
}

/* All routings; the first that takes a network is its minimal, the default. */
extern const struct cpl_registry cpl_routings;
/* The i-th routing, or NULL after the last. */
const struct cpl_routing *cpl_routing_at(int i);

/* Whether it can be used on this network. */
bool cpl_routing_takes(const struct cpl_routing *routing,
                       const struct cpl_network *net);

/* static-direct goes evenly over all minimal paths (at most one global link,
 * and the fewest hops among those), at most 4K paths of 5 hops (Jain 2016,
 * 3.2.2). O(K / 64 + links of the paths). */
extern const struct cpl_routing cpl_routing_static_direct;
/*
 * static-indirect (Valiant) goes evenly over all intermediate routers other
 * than source and destination, by static-direct to it and on from it; without a
 * third router it is direct (Jain 2016, 3.2.2, there packet by packet). The
 * expectation is exact: what a router exchanges with all others is spread once,
 * and the legs that start or end as the direct path does are taken off. O(flows
 * + groups^2 + routers * routers per group) where K is 1; else groups^2 is
 * multiplied by (distinct distances to the K gateways)^2 and the links of the
 * shortest paths, and routers by (groups * K + routers per group).
 */
extern const struct cpl_routing cpl_routing_static_indirect;
/* The same two on dragonflies whose groups differ (dragonfly_kinds.h), in O(K *
 * links of a path) and in O(flows + routers^2 * K). */
extern const struct cpl_routing cpl_routing_kinds_direct;
extern const struct cpl_routing cpl_routing_kinds_indirect;
/* static-indirect-sampled is the same as Jain ran it, packet by packet, to
 * compare the expectation with. A flow's bytes go as 64 packets, each over an
 * intermediate router and shortest paths drawn at random. Draws are functions
 * of (flow, packet), so the sample is always the same. A flow's load on a link
 * strays from the expectation as 1 / sqrt(64), that of many flows by less. O(64
 * * (K + hops)) for each flow. */
extern const struct cpl_routing cpl_routing_static_indirect_sampled;
/* The adaptive routings of Jain 2016, 3.2.2; see adaptive/adaptive.h. */
extern const struct cpl_routing cpl_routing_adaptive_direct;
extern const struct cpl_routing cpl_routing_adaptive_indirect;
extern const struct cpl_routing cpl_routing_adaptive_hybrid;
/* progressive-adaptive is described in progressive/progressive.h. */
extern const struct cpl_routing cpl_routing_progressive_adaptive;
/* Packets that choose by queues, see backlog.h. */
extern const struct cpl_routing cpl_routing_adaptive_hops;
extern const struct cpl_routing cpl_routing_adaptive_up;
extern const struct cpl_routing cpl_routing_ugal;
/* haec-box takes a wireless link straight to the column of the destination,
 * then goes board by board; on one board it goes the shorter way round, x
 * first, ties to + (Sharunov 2016, appendix). */
extern const struct cpl_routing cpl_routing_haec;
/* dmodk is the destination-modulo routing of a parallel-port generalised fat
 * tree (Zahavi 2012, "Fat-tree routing and node ordering providing contention
 * free traffic"), evenly over the routes to the router's nodes. O(nodes of the
 * router * levels). */
extern const struct cpl_routing cpl_routing_dmodk;
/* shortest-path takes the fewest hops, at each step the lowest next router
 * among them, evenly over the links to it. */
extern const struct cpl_routing cpl_routing_shortest_path;
/* ecmp (equal-cost multipath) goes evenly over all paths of fewest hops, with
 * parallel links as paths of their own, by the type's formula. O(links of the
 * paths). */
extern const struct cpl_routing cpl_routing_ecmp;
/* The same where there is no formula: a search from each router that sends,
 * then bytes from the farthest routers back in proportion to the paths that
 * lead there (Brandes 2001, "A faster algorithm for betweenness centrality",
 * with bytes for ones). It needs no table. O(links) for each router that
 * sends. */
extern const struct cpl_routing cpl_routing_ecmp_graph;
/* table goes evenly over the routes that the file gives for the flow. */
extern const struct cpl_routing cpl_routing_table;
/* dimension-order takes dimension 0 first, the shorter way round, ties to +. */
extern const struct cpl_routing cpl_routing_dimension_order;
/* adaptive-minimal goes evenly over all shortest paths, half way round a ring
 * in both directions. A link's share is that of the paths through it, counted
 * in closed form. O(routers of the box between the two * dimensions). */
extern const struct cpl_routing cpl_routing_adaptive_minimal;
/* o1turn takes half of the bytes in order of dimensions, half in the reverse order, half
 * way round a ring to + and to - (Seo, Ali, Lim, Rafique, Thottethodi, "Near-optimal
 * worst-case throughput routing for two-dimensional mesh networks", ISCA 2005, of two
 * dimensions). For decisions it stands in for `adaptive`, for a tenth of what the box
 * of adaptive-minimal costs. */
extern const struct cpl_routing cpl_routing_o1turn;
