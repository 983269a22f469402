/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network of a machine: nodes, routers, directed links in classes ("row",
 * "global", "dim0", ...), and the routings that there are for it. The cables
 * between nodes and routers are no links; they are counted by node.
 */
#ifndef COMMPLACE_NETWORK_H
#define COMMPLACE_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

COMMPLACE_BEGIN

struct commplace_network;

/*
 * Read a description, commplace-network(5), from a file or from text[length]
 * (name: of the text, in messages). NULL with err. O(nodes + links).
 */
COMMPLACE_API struct commplace_network *
commplace_network_load(const char *path, struct commplace_error *err);
COMMPLACE_API struct commplace_network *
commplace_network_parse(const char *text, size_t length, const char *name,
                        struct commplace_error *err);
COMMPLACE_API void commplace_network_free(struct commplace_network *net);

COMMPLACE_API const char *
commplace_network_name(const struct commplace_network *net);
/* "dragonfly", "torus", ... */
COMMPLACE_API const char *
commplace_network_type(const struct commplace_network *net);
COMMPLACE_API int commplace_network_nodes(const struct commplace_network *net);
COMMPLACE_API int
commplace_network_routers(const struct commplace_network *net);
COMMPLACE_API int64_t
commplace_network_links(const struct commplace_network *net);

/* Host name of a node id; NULL where there is no such node. O(1). */
COMMPLACE_API const char *
commplace_network_host(const struct commplace_network *net, int node);
/* Node id of a host name, -1 where the network does not have it. O(1). */
COMMPLACE_API int commplace_network_node(const struct commplace_network *net,
                                         const char *host);
/*
 * Node ids of a host list in Slurm's notation ("n[0-3],n7") in its order; the
 * count goes to *n. The caller frees them with free(). NULL with err: the
 * list's text, a host that the network does not have, memory. O(hosts).
 */
COMMPLACE_API int *
commplace_network_hostlist(const struct commplace_network *net,
                           const char *hosts, int *n,
                           struct commplace_error *err);

/* Link classes 0 .. count - 1. */
COMMPLACE_API int commplace_network_classes(const struct commplace_network *net);
COMMPLACE_API const char *
commplace_network_class_name(const struct commplace_network *net, int class_id);

/* Of a link: the routers at its ends, its class, its bandwidth in bytes/s (of
 * all its cables together). -1 where there is no such link. O(1). */
COMMPLACE_API int
commplace_network_link_from(const struct commplace_network *net, int64_t link);
COMMPLACE_API int
commplace_network_link_to(const struct commplace_network *net, int64_t link);
COMMPLACE_API int
commplace_network_link_class(const struct commplace_network *net, int64_t link);
COMMPLACE_API double
commplace_network_link_bandwidth(const struct commplace_network *net,
                                 int64_t link);

/* The same of all links at once, into arrays of as many; NULL: not wanted.
 * O(links). */
COMMPLACE_API void
commplace_network_read_links(const struct commplace_network *net, int *from,
                             int *to, int *class_id, double *bandwidth);

/* The i-th routing of networks of this type, NULL after the last. */
COMMPLACE_API const char *
commplace_network_routing(const struct commplace_network *net, int i);

COMMPLACE_END

#endif
