/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's network, whatever its type: routers, nodes, directed links with
 * bandwidths. Ids are dense integers; routers without nodes come last, links
 * are numbered class by class. Injection and ejection are indexed by node id
 * and kept apart.
 */
/* Tests: bandwidths latencies nodes shape dragonfly* hyperx* torus* in test_network;
 * dragonfly/kinds* in test_dragonfly_kinds; next_links routes in test_graph;
 * accelerators in test_accelerators; export in golden/networks.t;
 * stations in test_ports; against in golden/against.t; cost in
 * golden/networks.t. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* "dragonfly", "torus", ...: a folder each, see network/type.h. */
struct cpl_network_type;

#define CPL_NETWORK_MAX_DIMS 8
#define CPL_NETWORK_MAX_CLASSES 16
#define CPL_NETWORK_MAX_LEVELS 6
#define CPL_NETWORK_MAX_PORTS 16
#define CPL_NETWORK_MAX_ACCELERATORS 64

/* How the ranks of a node use its ports. */
enum cpl_port_use {
	/* A rank's every message over all ports, in proportion to their
	 * bandwidths, each part to the same port of the other node. */
	CPL_PORTS_SPREAD,
	CPL_PORTS_ROUND_ROBIN, /* a rank one port: the i-th i % ports */
	CPL_PORTS_NEAREST, /* a rank one port: the i-th of n i * ports / n, as
	                    * ranks are bound one beside the other */
	CPL_PORTS_FIRST,   /* all ranks port 0 */
	CPL_PORTS_AFFINITY, /* those of their accelerators, see below */
};

/* What a network type has for routings, and what a routing needs of a type: the
 * flags of both. */
enum cpl_network_has {
	CPL_NETWORK_PRODUCT = 1,    /* net->product */
	CPL_NETWORK_NEXT_LINKS = 2, /* net->next_links */
	CPL_NETWORK_TABLES = 4,     /* net->routes, where the file names some */
	CPL_NETWORK_GROUPS = 8,     /* groups, links between each two */
	CPL_NETWORK_SPREAD = 16,    /* the type's spread: no need to set it */
	CPL_NETWORK_IRREGULAR = 32, /* see cpl_network_type_is_irregular */
	CPL_NETWORK_FLAGS = 63,     /* all of these */
};

/* Links of a class have ids first .. first + count - 1. */
struct cpl_link_class {
	char name[16]; /* "row", "dim0" ... */
	int64_t first, count;
	/* Cables of each link: 1 but inside a dragonfly's groups. Reports of
	 * bytes count cables, averages of congestion count links. */
	int cables;
	double bandwidth; /* bytes/s of a link's cables together */
};

/* Paths of fewest hops through any network, see network/next_links.c. */
struct cpl_next_links {
	/* Links to the routers next to one, the lowest of parallel ones, in the
	 * order of these routers: out[first[router]] .. */
	int *first, *out; /* [n_routers + 1] */
	/* next[to * n_routers + router]: which of these leads towards router
	 * `to` (with nodes); of several paths the lowest. */
	uint16_t *next;
	int *twin; /* [n_links] next link with the same ends, -1: none */
};

/*
 * Routes of a file: those of routers (from, to) are route[first[from *
 * n_node_routers + to]] up to the next pair's; route r's links are
 * link[start[r]] .. link[start[r + 1] - 1].
 */
struct cpl_route_table {
	int64_t *first; /* [n_node_routers^2 + 1] */
	int64_t *start; /* [routes + 1] */
	int *link;
};

/* Routers as the points of a product of lines and rings, the first dimension
 * fastest: hops add up over the dimensions. */
struct cpl_product {
	int n_dims;
	int dim[CPL_NETWORK_MAX_DIMS];
	unsigned char wrap[CPL_NETWORK_MAX_DIMS]; /* a ring, not a line */
	/* out[(router * n_dims + d) * 2 + (sign < 0)] = link id or -1 (border,
	 * dimension of length 1). */
	int64_t *out;
};

/* A level of units: groups, chassis, routers. Units of one level share no
 * router; those of the next level are inside them. */
struct cpl_level {
	const char *name; /* "group": how policies ask for it; NULL: none does */
	int n_units;
	int routers; /* consecutive ones of a unit, the last may have fewer */
	int *unit_of; /* [n_node_routers] where units differ in their routers,
	               * which are consecutive too; else NULL */
	/* Nodes of unit u, by their first port: node[first[u]] ..
	 * node[first[u + 1] - 1], by id. */
	int *first; /* [n_units + 1] */
	const int *node;
	int *first_router; /* [n_units + 1] of each unit, and n_node_routers */
};

/* A link of a route with its part of the bytes. */
struct cpl_share {
	int link;
	double part;
};

/* How an accelerator is joined to others without the network. */
enum cpl_inside {
	CPL_INSIDE_NODE,   /* those of its node */
	CPL_INSIDE_DOMAIN, /* those of the nodes on a switch of their own */
};
#define CPL_INSIDES 2

/*
 * Accelerators of each node, and what joins them: rank i of those of a node has
 * number i modulo per_node. A message goes where NCCL would send it ("NCCL
 * Environment Variables", NCCL_P2P_LEVEL, NCCL_PXN_DISABLE): inside the node,
 * else inside the domain, else over the ports of the two accelerators. Files
 * without them have per_node 0.
 */
struct cpl_accelerators {
	int per_node;
	int64_t n; /* of all nodes */
	/* Bytes/s of one, each way; INFINITY where its traffic is not counted.
	 * Without that of the node the domain's links take its traffic. */
	double bandwidth[CPL_INSIDES];
	int n_domains;
	int *domain_of; /* [n_nodes], -1: in none; NULL: there are none */
	/* Ports of each, the i-th of one sends to the i-th of another; none
	 * where net->port_use says what ranks use. */
	int ports;
	unsigned char port[CPL_NETWORK_MAX_ACCELERATORS]
	                  [CPL_NETWORK_MAX_PORTS];
	/* Bytes leave by the ports that they arrive at, through the accelerator
	 * of the own node that has these. */
	bool pxn;
	/* Where accelerators are not told apart: the part of what leaves that
	 * goes from a port to another, and that passes an accelerator of the
	 * own node. */
	double part[CPL_NETWORK_MAX_PORTS][CPL_NETWORK_MAX_PORTS];
	double passes;
	int split; /* nodes that one is here, see by_port */
};

struct cpl_node_index; /* name -> node id, private */

struct cpl_network {
	char *name;
	const struct cpl_network_type *type;
	char *routing;        /* as stated in the file, NULL: type's default */
	/* Where flows leave minimal paths, see routing/progressive: bytes, and
	 * how much longer other paths count. */
	double detour_threshold, detour_weight;
	int n_routers;
	int n_node_routers;   /* routers 0 .. this - 1 may have nodes */
	int nodes_per_router; /* as the file has it: the most of a router */
	int n_nodes;          /* ports without a node included */
	bool node_is_router;  /* each router has one node, of its number */
	/* Ports of a node, each on a router; as many of each. */
	int n_ports;
	enum cpl_port_use port_use;
	/* Bytes/s to the router and back, by port. */
	double port_bandwidth[CPL_NETWORK_MAX_PORTS];
	/* By port, the part of what a node sends and gets, where its ranks are
	 * not told apart. */
	double port_share[CPL_NETWORK_MAX_PORTS];
	/* By node and port, where nodes differ in it; else NULL. */
	double *cable_bandwidth;
	double fastest_port;  /* bytes/s, the most of them */
	int *port_router;     /* [n_nodes * n_ports] by node */
	int *router_first;    /* [n_routers + 1] into router_node */
	int *router_node;     /* nodes of the routers by their first port, by
	                       * id */
	struct cpl_accelerators accelerators;
	/* Nodes on the same routers, port by port, with no link between them,
	 * and in the same domain are at one station. NULL: nodes have one port
	 * and no domains; the router is the station. */
	int n_stations;
	int *station_of;     /* [n_nodes] */
	int *station_router; /* [n_stations * n_ports] */
	int *station_domain; /* [n_stations], NULL: there are no domains */
	/* The same network with each port as a node of its own, cable by cable:
	 * ranks that use one port each see it so. It has no names. NULL: nodes
	 * have one port, or their ranks all use the same. */
	struct cpl_network *by_port;
	struct cpl_product product; /* n_dims 0: is none */
	int n_levels;         /* coarsest first */
	struct cpl_level level[CPL_NETWORK_MAX_LEVELS];
	int turns; /* level whose units round-robin policies take in turn */
	int64_t n_links;      /* directed router-to-router links */
	int n_classes;
	struct cpl_link_class link_class[CPL_NETWORK_MAX_CLASSES];
	/* Seconds that a bit takes along a link of each class, then of nodes' links,
	 * and through a router; 0 where the file states none. */
	double class_latency[CPL_NETWORK_MAX_CLASSES + 1];
	double router_latency;
	bool has_latency;     /* some are above 0 */
	int *link_from;       /* [n_links] router ids */
	int *link_to;         /* [n_links] */
	unsigned char *link_class_of; /* [n_links] */
	char **router_name;   /* [n_routers], for people; NULL: the file has
	                       * none */
	char **node_name;     /* [n_nodes]; NULL entry: port without a node */
	struct cpl_node_index *index;
	struct cpl_route_table *routes; /* NULL: the file names none */
	struct cpl_next_links next_links; /* of types that ask for them */
	/* The type's own data, see its header. */
	unsigned char own[] __attribute__((aligned(16)));
};

/* Load network.json, or parse the same text (name for messages), for
 * cpl_network_free; NULL with err. cpl_routing_find says whether the routing
 * that it names exists. O(nodes + links). */
struct cpl_network *cpl_network_load(const char *path, struct cpl_error *err);
struct cpl_network *cpl_network_parse(const char *text, size_t length,
				      const char *name, struct cpl_error *err);
void cpl_network_free(struct cpl_network *net);

/* As in the file. */
const char *cpl_network_type_name(const struct cpl_network_type *type);
/* The type of that name, or NULL. */
const struct cpl_network_type *cpl_network_type_find(const char *name);
/* Have networks of the type a level of that name? */
bool cpl_network_type_has(const struct cpl_network_type *type,
			  const char *level);
/* Are they products of dimensions? */
bool cpl_network_type_is_product(const struct cpl_network_type *type);
/* Do its links say how routers are joined, rather than its levels? */
bool cpl_network_type_is_irregular(const struct cpl_network_type *type);

/* Node id of a host name, or -1 when the network does not have it. O(1). */
int cpl_network_node(const struct cpl_network *net, const char *host);
/* How many nodes there are: those with a name. O(n_nodes). */
int cpl_network_hosts(const struct cpl_network *net);

/* Links by the routers that they lead from, then to, then by id, into link[n_links].
 * O(links log links). */
void cpl_network_sort_links(const struct cpl_network *net, int *link);
/* The first of those that is none before from -> to: n_links where all are. O(log
 * links). */
int64_t cpl_network_link_at(const struct cpl_network *net, const int *link,
                            int from, int to);

/* net->next_links: the link from a router towards another that has nodes. O(1).
 */
static inline int cpl_network_next_link(const struct cpl_network *net,
					int router, int to)
{
	const struct cpl_next_links *w = &net->next_links;

	return w->out[w->first[router] +
		      w->next[(int64_t)to * net->n_routers + router]];
}

/* Bytes/s. O(1). */
static inline double cpl_network_link_bandwidth(const struct cpl_network *net,
						int64_t link)
{
	return net->link_class[net->link_class_of[link]].bandwidth;
}

/* Are bandwidths stated, or are all cables of 1 byte/s? O(classes, cables of
 * nodes where those differ), as the next two. */
bool cpl_network_has_bandwidths(const struct cpl_network *net);

/* Cables without a stated bandwidth, which are 1 byte/s, are refused where
 * others have one, as in every file. 0, or -1 with err. */
int cpl_network_check_bandwidths(const struct cpl_network *net,
                                 struct cpl_error *err);

/* -1: nobody makes such links, and err says which unit may be meant; else 0. */
int cpl_network_doubt_bandwidths(const struct cpl_network *net,
                                 struct cpl_error *err);

/* Seconds from node to node over a route between their routers, whose links count by
 * their parts: along these, both nodes' links, and through routers. O(n). */
static inline double cpl_network_route_latency(const struct cpl_network *net,
                                               const struct cpl_share *share,
                                               int n)
{
	double sum = 2 * net->class_latency[net->n_classes] + net->router_latency;

	for (int i = 0; net->has_latency && i < n; i++)
		sum += share[i].part *
		       (net->class_latency[net->link_class_of[share[i].link]] +
		        net->router_latency);
	return sum;
}

/* Parallel cables of a link: those of its bundle, or 1. O(1). */
static inline int cpl_network_link_cables(const struct cpl_network *net,
					  int64_t link)
{
	return net->link_class[net->link_class_of[link]].cables;
}

/* Router of a node's port, below net->n_ports. O(1). */
static inline int cpl_network_port(const struct cpl_network *net, int node,
				   int port)
{
	return net->port_router[(int64_t)node * net->n_ports + port];
}

/* Router of a node's first port. O(1). */
static inline int cpl_network_router(const struct cpl_network *net, int node)
{
	return cpl_network_port(net, node, 0);
}

/* Cables between ports and routers each way, number node * n_ports + port:
 * loads of injection and ejection have that index. O(1). */
static inline int64_t cpl_network_port_cables(const struct cpl_network *net)
{
	return (int64_t)net->n_nodes * net->n_ports;
}

/* The network that loads are judged on: where ranks have ports of their own that
 * of the ports. O(1). */
static inline const struct cpl_network *
cpl_network_judged(const struct cpl_network *net)
{
	return net->by_port ? net->by_port : net;
}

/* How many nodes of that network a node is: they begin with node * that number.
 * O(1). */
static inline int cpl_network_judged_ports(const struct cpl_network *net)
{
	return net->by_port ? net->n_ports : 1;
}

/* Bytes/s of one. O(1). */
static inline double cpl_network_port_bandwidth(const struct cpl_network *net,
						int64_t cable)
{
	if (net->cable_bandwidth)
		return net->cable_bandwidth[cable];
	return net->port_bandwidth[net->n_ports == 1 ? 0
						     : cable % net->n_ports];
}

/* Station of a node: what paths between nodes, whose ranks are not told apart,
 * depend on. O(1). */
static inline int cpl_network_station(const struct cpl_network *net, int node)
{
	return net->station_of ? net->station_of[node]
			       : cpl_network_router(net, node);
}

/* Router of a station's port. O(1). */
static inline int cpl_network_station_router(const struct cpl_network *net,
					     int station, int port)
{
	return net->station_of
		       ? net->station_router[(int64_t)station * net->n_ports +
					     port]
		       : station;
}

/* Are two nodes in one domain, so that what they send each other is on no link
 * of the network? O(1). */
static inline bool cpl_network_share_domain(const struct cpl_network *net,
					    int a, int b)
{
	const int *of = net->accelerators.domain_of;

	return of && of[a] >= 0 && of[a] == of[b];
}

/* The same of two stations. O(1). */
static inline bool cpl_network_stations_joined(const struct cpl_network *net,
					       int a, int b)
{
	const int *of = net->station_domain;

	return of && of[a] >= 0 && of[a] == of[b];
}

/* The first accelerator of a node; all are numbered node by node. O(1). */
static inline int64_t cpl_network_accelerator(const struct cpl_network *net,
					      int node)
{
	const struct cpl_accelerators *a = &net->accelerators;

	return (int64_t)(node / a->split) * a->per_node;
}

/* Part of the bytes between nodes that goes from port p to port q, where ranks
 * are not told apart. O(1). */
static inline double cpl_network_port_fraction(const struct cpl_network *net,
					   int p, int q)
{
	if (net->port_use == CPL_PORTS_SPREAD)
		return p == q ? net->port_share[p] : 0;
	if (net->port_use == CPL_PORTS_AFFINITY)
		return net->accelerators.part[p][q];
	return net->port_share[p] * net->port_share[q];
}

/* Nodes of a router by their first port: node[0 .. n - 1], by id. O(1). */
struct cpl_nodes {
	const int *node;
	int n;
};

static inline struct cpl_nodes cpl_network_nodes(const struct cpl_network *net,
						 int router)
{
	int first = net->router_first[router];

	return (struct cpl_nodes){net->router_node + first,
				  net->router_first[router + 1] - first};
}

/* Slots for ports of nodes at a router, numbered on from router to router; they
 * are the ids of its nodes where nodes have one port. O(1). */
struct cpl_node_slots {
	int first, n;
};

static inline struct cpl_node_slots
cpl_network_slots(const struct cpl_network *net, int router)
{
	return (struct cpl_node_slots){router * net->nodes_per_router,
				   net->nodes_per_router};
}

/* The product that the network is, or NULL. */
static inline const struct cpl_product *
cpl_network_product(const struct cpl_network *net)
{
	return net->product.n_dims ? &net->product : NULL;
}

/* The level of that name, or NULL. */
const struct cpl_level *cpl_network_level(const struct cpl_network *net,
					  const char *name);

/* Unit of a router with nodes. O(1). */
static inline int cpl_level_unit(const struct cpl_level *level, int router)
{
	return level->unit_of ? level->unit_of[router]
			      : router / level->routers;
}

/* Coordinates of a router with nodes into at[CPL_NETWORK_MAX_DIMS]: how many.
 * The type's, the product's, or its unit in each level from the coarsest. */
int cpl_network_coordinates(const struct cpl_network *net, int router, int *at);
