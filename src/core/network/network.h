/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's network: routers, nodes, directed links with bandwidths, and
 * what one may ask of any network without knowing its type. Each type has a
 * folder here and one line in network.mk.
 *
 * Ids are dense integers. Nodes hang on routers by ports; where some routers
 * have no nodes (switches above the leaves) they come last. Link ids run over
 * the network's links only, class by class; node-to-router links (injection,
 * ejection) are indexed by node id and kept apart.
 */
#ifndef CPL_NETWORK_NETWORK_H
#define CPL_NETWORK_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* "dragonfly", "torus", ...: a folder each, see network/type.h. */
struct cpl_network_type;

#define CPL_NETWORK_MAX_DIMS 8
#define CPL_NETWORK_MAX_CLASSES 16
#define CPL_NETWORK_MAX_LEVELS 6

/* Links of a class have ids first .. first + count - 1. */
struct cpl_link_class {
	char name[16];    /* "row", "column", "global"; "dim0" ... */
	int64_t first;
	int64_t count;    /* directed links */
	/* Parallel cables that each link stands for: they share its bytes
	 * evenly. Reports of bytes count cables, averages of congestion count
	 * links. 1 but inside a dragonfly's groups. */
	int cables;
	double bandwidth; /* bytes/s per direction, of all cables together */
};

/* Ways of fewest hops through any network, see network/ways.c. */
struct cpl_way_table {
	/* next[to * n_routers + router]: link towards router `to` (with
	 * nodes), -1 at `to`. Lowest link id to the lowest next router. */
	int *next;
	/* The next link of those from the same router to the same one, or
	 * -1 at the last. */
	int *twin; /* [n_links] */
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

/*
 * Routers as the points of a product of lines and rings: router id has the
 * first dimension fastest, and the hops between two routers add up over the
 * dimensions.
 */
struct cpl_product {
	int n_dims;
	int dim[CPL_NETWORK_MAX_DIMS];
	unsigned char wrap[CPL_NETWORK_MAX_DIMS]; /* a ring, not a line */
	/* out[(router * n_dims + d) * 2 + (sign < 0)] = link id or -1 (border,
	 * dimension of length 1). */
	int64_t *out;
};

/*
 * A level of rooms, called units: a group, a chassis, a router. Units of one
 * level share no router; those of the next level are inside them.
 */
struct cpl_level {
	const char *name; /* "group": how policies ask for it; NULL: none does */
	int n_units;
	int routers;      /* consecutive ones of a unit; the last one may have
	                   * fewer */
	/* Nodes of unit u: node[first[u]] .. node[first[u + 1] - 1], by id.
	 * With several ports, those whose first port is there. */
	int *first;       /* [n_units + 1] */
	const int *node;
};

struct cpl_node_index; /* name -> node id, private */

struct cpl_network {
	char *name;
	const struct cpl_network_type *type;
	char *routing;        /* as stated in the file, NULL: type's default */
	int n_routers;
	int n_node_routers;   /* routers 0 .. this - 1 may have nodes */
	int nodes_per_router; /* as the file has it: the most of a router */
	int n_nodes;          /* ports without a node included */
	int n_ports;          /* of a node, each on a router; 1 in all types */
	bool node_is_router;  /* each router has one node, of its number */
	int *port_router;     /* [n_nodes * n_ports] by node */
	int *router_first;    /* [n_routers + 1] into router_node */
	int *router_node;     /* nodes of the routers, by id */
	struct cpl_product product; /* n_dims 0: is none */
	int n_levels;         /* coarsest first */
	struct cpl_level level[CPL_NETWORK_MAX_LEVELS];
	int turns; /* level whose units round-robin policies take in turn */
	int64_t n_links;      /* directed router-to-router links */
	int n_classes;
	struct cpl_link_class link_class[CPL_NETWORK_MAX_CLASSES];
	int *link_from;       /* [n_links] router ids */
	int *link_to;         /* [n_links] */
	unsigned char *link_class_of; /* [n_links] */
	double injection_bandwidth; /* bytes/s, node to router and back */
	char **node_name;     /* [n_nodes]; NULL entry: port without a node */
	struct cpl_node_index *index;
	struct cpl_route_table *routes; /* NULL: the file names none */
	struct cpl_way_table ways; /* of types that ask for them */
	/* The type's own data, see its header. */
	unsigned char own[] __attribute__((aligned(16)));
};

/*
 * Load network.json, or parse the same text from memory (name for messages).
 * Unknown keys, sizes that do not fit, node lists of the wrong length or with
 * a name twice, bandwidths that are not positive finite numbers are refused;
 * whether the stated routing exists is cpl_routing_find's to say.
 * Returns a network for cpl_network_free, or NULL with err. O(nodes + links).
 */
struct cpl_network *cpl_network_load(const char *path, struct cpl_error *err);
struct cpl_network *cpl_network_parse(const char *text, size_t length,
				      const char *name, struct cpl_error *err);
void cpl_network_free(struct cpl_network *net);

/* "dragonfly", "torus", ...: as in the file. */
const char *cpl_network_type_name(const struct cpl_network_type *type);
/* The type of that name, or NULL. */
const struct cpl_network_type *cpl_network_type_find(const char *name);
/* Have networks of the type a level of that name? */
bool cpl_network_type_has(const struct cpl_network_type *type,
			  const char *level);
/* Are they products of dimensions? */
bool cpl_network_type_is_product(const struct cpl_network_type *type);
/* Do levels say little of how routers are linked, so that one should look at
 * the links? */
bool cpl_network_type_is_irregular(const struct cpl_network_type *type);

/* Node id of a host name, or -1 when the network does not have it. O(1). */
int cpl_network_node(const struct cpl_network *net, const char *host);

/* Bandwidth of a network link in bytes/s. O(1). */
static inline double cpl_network_link_bandwidth(const struct cpl_network *net,
						int64_t link)
{
	return net->link_class[net->link_class_of[link]].bandwidth;
}

/* Cables that a network link stands for. O(1). */
static inline int cpl_network_link_cables(const struct cpl_network *net,
					  int64_t link)
{
	return net->link_class[net->link_class_of[link]].cables;
}

/* Router of a node's port `port`, below net->n_ports. O(1). */
static inline int cpl_network_port(const struct cpl_network *net, int node,
				   int port)
{
	return net->port_router[(int64_t)node * net->n_ports + port];
}

/* Router of a node, of its first port where it has several. O(1). */
static inline int cpl_network_router(const struct cpl_network *net, int node)
{
	return cpl_network_port(net, node, 0);
}

/* Nodes of a router: node[0 .. n - 1], by id. */
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
	return router / level->routers;
}

/*
 * Coordinates of a router with nodes into at[CPL_NETWORK_MAX_DIMS]; returns how
 * many. Those of a product (first dimension first); else, unless the type has
 * others, where it is in each level: unit by unit from the coarsest.
 */
int cpl_network_coordinates(const struct cpl_network *net, int router, int *at);

#endif
