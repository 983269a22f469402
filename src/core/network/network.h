/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's network: routers, nodes, directed links with bandwidths.
 *
 * Ids are dense integers. Node id n sits on router n / nodes_per_router; where
 * some routers have no nodes (switches above the leaves) they come last. Link
 * ids run over the network's links only, class by class; node-to-router links
 * (injection, ejection) are indexed by node id and kept apart.
 *
 * Dragonfly (Cray Cascade; Jain 2016, 3.2.1): node id = ((group * rows + row)
 * * columns + column) * nodes_per_router + port. Routers of one row (chassis)
 * are all-to-all, routers of one column of a group too. Global links by a
 * wiring rule, see dragonfly.h.
 *
 * Torus: any number of dimensions, wrap per dimension, the first dimension
 * fastest. A link is (router, dimension, sign).
 *
 * HAEC Box (Sharunov, 2016): boards that are 2-D tori, in a line; haec.h. Fat
 * tree: parallel-port generalised fat tree, fattree.h. Graph: routers and
 * links one by one, graph.h. The last two may have a table of routes.
 */
#ifndef CPL_NETWORK_NETWORK_H
#define CPL_NETWORK_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum cpl_network_type {
	CPL_NETWORK_DRAGONFLY,
	CPL_NETWORK_TORUS,
	CPL_NETWORK_FATTREE,
	CPL_NETWORK_GRAPH,
	CPL_NETWORK_HAEC,
};

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

/* Where global links sit, see dragonfly.h. */
enum cpl_wiring {
	CPL_WIRING_MODULO,
	CPL_WIRING_CONSECUTIVE,
	CPL_WIRING_PALMTREE,
	CPL_WIRING_LIST,
};

struct cpl_dragonfly {
	int groups, rows, columns;
	int global_per_pair; /* K: global links per pair of groups */
	int routers_per_group; /* rows * columns */
	enum cpl_wiring wiring;
	/*
	 * Gateways: global link id (relative to the class) of link k from
	 * group a to group b is ((a * (groups - 1) + b - (b > a)) * K + k).
	 * gateway[that] is its router id in a; the far end is the gateway of
	 * link k from b to a.
	 */
	int *gateway;
	/* Row of each router of a group, [routers_per_group]. */
	int *row_of;
	/*
	 * Which of the K links from group a to group b are on a row, and on a
	 * column, of a: bit k % 64 of rows_columns[((a * (groups - 1) + b - (b
	 * > a)) * words + k / 64) * (rows + columns) + row], + rows + column.
	 * NULL where K is 1 or that would be large.
	 */
	uint64_t *rows_columns;
	int words; /* K / 64, rounded up */
};

struct cpl_torus {
	int n_dims;
	int dim[CPL_NETWORK_MAX_DIMS];
	unsigned char wrap[CPL_NETWORK_MAX_DIMS];
	/* out[(router * n_dims + d) * 2 + (sign < 0)] = link id or -1 (mesh
	 * border, dimension of length 1). */
	int64_t *out;
};

/* See fattree.h. Index l: between the switches of level l and l + 1, leaves
 * being level 0. */
struct cpl_fattree {
	int n_levels;  /* levels above the leaves */
	int down[CPL_NETWORK_MAX_LEVELS];  /* children of a switch above */
	int up[CPL_NETWORK_MAX_LEVELS];    /* parents of a switch below */
	int ports[CPL_NETWORK_MAX_LEVELS]; /* links to each parent */
	/* Switches of a level: subtrees x replicas; level l has subtrees[l] *
	 * replicas[l], router id first[l] + replica * subtrees[l] + subtree. */
	int subtrees[CPL_NETWORK_MAX_LEVELS + 1];
	int replicas[CPL_NETWORK_MAX_LEVELS + 1];
	int first[CPL_NETWORK_MAX_LEVELS + 1];
};

struct cpl_graph {
	/* next[to * n_routers + router]: link towards router `to` (with
	 * nodes), -1 at `to`. Lowest link id to the lowest next router. */
	int *next;
	/* The next link of those from the same router to the same one, or
	 * -1 at the last. */
	int *twin; /* [n_links] */
	struct cpl_graph_link *file; /* while loading */
	int64_t n_file;
};

struct cpl_haec {
	int x, y, boards;
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

struct cpl_node_index; /* name -> node id, private */

struct cpl_network {
	char *name;
	enum cpl_network_type type;
	char *routing;        /* as stated in the file, NULL: type's default */
	int n_routers;
	int nodes_per_router;
	int n_node_routers;   /* routers 0 .. this - 1 may have nodes */
	int n_nodes;          /* n_node_routers * nodes_per_router */
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
	union {
		struct cpl_dragonfly dragonfly;
		struct cpl_torus torus;
		struct cpl_fattree fattree;
		struct cpl_graph graph;
		struct cpl_haec haec;
	};
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
const char *cpl_network_type_name(enum cpl_network_type type);
/* The type of that name, or -1. */
int cpl_network_type_find(const char *name);

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

static inline int cpl_network_router(const struct cpl_network *net, int node)
{
	return node / net->nodes_per_router;
}

#endif
