/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a network type is, and what types share. */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "base/registry.h"
#include "network/network.h"

#define CPL_NETWORK_MAX_ROUTERS 1000000
#define CPL_NETWORK_MAX_LINKS (INT64_C(1) << 31)
#define CPL_NETWORK_MAX_CABLES 1000 /* of a bundle */

#define CPL_DRAWING_STRIPS 4

/* Links of a class by one coordinate of the router that they leave. */
struct cpl_strip {
	int link_class, coordinate;
	const char *title;
};

/* How link loads are drawn (cmd/plot) where the network is no product: a matrix
 * from and to the first coordinate, and next to its lines the strips. */
struct cpl_drawing {
	const char *coordinate[CPL_NETWORK_MAX_DIMS]; /* "group", "row" */
	const char *title;                            /* of the matrix */
	int n_strips;
	struct cpl_strip strip[CPL_DRAWING_STRIPS];
};

struct cpl_network_type {
	CPL_ENTRY; /* name: as in the file; flags: enum cpl_network_has */
	/* Names that policies ask for of its levels, NULL-terminated. */
	const char *const *levels;
	/* Its keys besides those of every type, NULL-terminated. */
	const char *const *keys;
	/* Packets pass links of each class in turn, like the levels of a tree. */
	bool staged;
	size_t size; /* of its own data, net->own, zeroed before shape */
	/* The type, of the same name, of files that describe a special form of
	 * it; NULL where this one is not of that form, or has none. */
	const struct cpl_network_type *(*variant)(const json_t *root);
	/*
	 * `shape` reads root and sets n_routers (n_node_routers where fewer
	 * have nodes), link classes and levels; `links` fills the link arrays
	 * and tables of its own, which `release` (or NULL) frees. 0, or -1
	 * with err without the file's name.
	 */
	int (*shape)(struct cpl_network *net, const json_t *root,
	             struct cpl_error *err);
	int (*links)(struct cpl_network *net, struct cpl_error *err);
	void (*release)(struct cpl_network *net);
	/* Slots for nodes of a router with nodes; NULL: nodes_per_router. */
	int (*slots)(const struct cpl_network *net, int router);
	/*
	 * All shortest paths between two different routers with nodes, the same
	 * part of the bytes on each (parallel links are paths of their own):
	 * take(arg, share) for their links, a link perhaps several times, but
	 * at most spread_again() times more than once in all (NULL: never).
	 * And how many links such a way has. NULL: the type has no formula.
	 * O(links of the paths), O(dimensions).
	 */
	void (*spread)(const struct cpl_network *net, int from, int to,
	               void (*take)(void *arg, struct cpl_share share),
	               void *arg);
	int64_t (*spread_again)(const struct cpl_network *net);
	int (*distance)(const struct cpl_network *net, int from, int to);
	/* See cpl_network_coordinates; NULL: the product's, or by levels. The
	 * type's own are for all routers where there is a drawing. */
	int (*coordinates)(const struct cpl_network *net, int router, int *at);
	const struct cpl_drawing *drawing; /* NULL: there is none */
	/* Its sizes in words ("dragonfly of 4 groups"), and as a JSON object
	 * (NULL when memory is out). */
	void (*describe)(const struct cpl_network *net, FILE *out);
	json_t *(*sizes)(const struct cpl_network *net);
};

/*
 * network/ports.c: root's "ports" (without: one of "bandwidth"'s "injection")
 * into net's; then, where there are several, the nodes of "nodes" on their
 * routers. 0, or -1 with err. O(nodes * ports * log).
 */
int cpl_ports_read(struct cpl_network *net, const json_t *root,
                   struct cpl_error *err);
int cpl_ports_join(struct cpl_network *net, const json_t *root,
                   struct cpl_error *err);
/* Once the nodes are on their routers and in their domains: net's stations,
 * where they are no routers. 0, or -1 with err (memory). O(nodes * ports). */
int cpl_ports_find_stations(struct cpl_network *net, struct cpl_error *err);
/* Once all else is read: net->by_port, where it has one. 0, or -1 with err
 * (memory). O(nodes * ports). */
int cpl_ports_fractions(struct cpl_network *net, struct cpl_error *err);
void cpl_ports_free(struct cpl_network *net);
/* "spread", "round-robin", "nearest", "first", "affinity". */
const char *cpl_port_use_name(enum cpl_port_use use);

/*
 * network/accelerators.c: root's "accelerators" into net's, once the ports are
 * read; then, where hosts have their ids, its domains. 0, or -1 with err.
 * O(accelerators^2 * ports), O(nodes).
 */
int cpl_accelerators_read(struct cpl_network *net, const json_t *root,
                          struct cpl_error *err);
int cpl_accelerators_join(struct cpl_network *net, const json_t *root,
                          struct cpl_error *err);

/*
 * network/nodes.c: nodes of one port on their routers, as many on each; their
 * names, "nodes" of root; and net->index of these, which may be there once only.
 * 0, or -1 with err. O(nodes).
 */
int cpl_network_join_nodes(struct cpl_network *net, struct cpl_error *err);
int cpl_network_read_nodes(struct cpl_network *net, const json_t *root,
                           struct cpl_error *err);
int cpl_network_index_nodes(struct cpl_network *net, struct cpl_error *err);

/* Of a router with nodes. O(1). */
static inline int cpl_network_slots_of(const struct cpl_network *net,
                                        int router)
{
	return net->type->slots ? net->type->slots(net, router)
	                        : net->nodes_per_router;
}

/* A key of "nodes" as a router that may have nodes, or -1 with err. Router ids
 * have one spelling, so that no router can be given twice. */
int cpl_network_router_key(const struct cpl_network *net, const char *key,
                           struct cpl_error *err);

/* For CPL_NETWORK_NEXT_LINKS, by network.c: is the table not too large (once
 * the routers are known); and the table (once the links are), -1 with err where
 * there is no path between two routers with nodes. O(routers with nodes *
 * (routers + (links + routers / 64) * steps of the longest way / 64)). */
int cpl_network_check_next_links(const struct cpl_network *net,
                                 struct cpl_error *err);
int cpl_network_find_next_links(struct cpl_network *net, struct cpl_error *err);

extern const struct cpl_registry cpl_network_types;

/* "latency" of root, once the classes of links are there: seconds of a link of each,
 * by its name, of nodes' links ("injection"), of those that are not named ("link"), and of
 * a router. 0 or -1 with err. O(classes). */
int cpl_network_read_latencies(struct cpl_network *net, const json_t *root,
                               struct cpl_error *err);

/*
 * "routing_table" of root, a file in the network's folder (path; NULL: a text
 * in memory, which cannot name one), into net->routes, once the links are
 * there. Lines "src dst hop ... dst": router ids, each one link on; "router:k"
 * takes link k of parallel ones. Lines of the same pair share its bytes; each
 * ordered pair of routers with nodes has one. 0 or -1 with err. O(file + pairs
 * + links log links).
 */
int cpl_network_read_routes(struct cpl_network *net, const json_t *root,
                            const char *path, struct cpl_error *err);
/* The same from text. */
int cpl_network_parse_routes(struct cpl_network *net, const char *text,
                             size_t length, const char *source,
                             struct cpl_error *err);
void cpl_network_free_routes(struct cpl_route_table *routes);

/* network/shape.c, for types' shape. */

/* Append a class of `count` links; -1 with err when the network's links get too
 * many. */
int cpl_network_add_class(struct cpl_network *net, const char *name,
                          int64_t count, double bandwidth,
                          struct cpl_error *err);

/* Append classes of these names, NULL-terminated, count[] links each, with the
 * bandwidths that root's "bandwidth" has for them; it may have no others but
 * "injection". */
int cpl_network_add_classes(struct cpl_network *net, const json_t *root,
                            const char *const *name, const int64_t *count,
                            struct cpl_error *err);

/* For links: the ends of one. */
static inline void cpl_network_set_link(struct cpl_network *net, int64_t link,
                                        int from, int to)
{
	net->link_from[link] = from;
	net->link_to[link] = to;
}

/* Bundle each link of a class: parallel cables, object[key] of them (default
 * 1), the class' bandwidth being that of one. */
int cpl_network_bundle(struct cpl_network *net, const json_t *object,
                       const char *key, int class, struct cpl_error *err);

/* Append the next finer level, of units of `routers` routers each; or (-1 with
 * err: memory) of n units of size[n] routers. */
void cpl_network_add_level(struct cpl_network *net, const char *name,
                           int routers);
int cpl_network_add_units(struct cpl_network *net, const char *name,
                          const int *size, int n, struct cpl_error *err);

/* object[key] as bytes/s, above 0 and finite; untouched when absent, or object
 * is NULL. */
int cpl_network_bandwidth(const json_t *object, const char *key, double *out,
                          struct cpl_error *err);

/* root's "dims" into dim[CPL_NETWORK_MAX_DIMS], their product into
 * net->n_routers. How many, or -1 with err. */
int cpl_network_dims(struct cpl_network *net, const json_t *root, int *dim,
                     struct cpl_error *err);
