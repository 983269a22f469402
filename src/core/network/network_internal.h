/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the loader and the network types share.
 */
#ifndef CPL_NETWORK_INTERNAL_H
#define CPL_NETWORK_INTERNAL_H

#include "base/json.h"
#include "network/network.h"

#define CPL_NETWORK_MAX_ROUTERS 1000000
#define CPL_NETWORK_MAX_LINKS (INT64_C(1) << 31)

/*
 * A network type: `keys` are its keys besides those of every type. `shape`
 * reads its sizes and bandwidths from root and sets n_routers (and
 * n_node_routers when fewer have nodes), n_links and the link classes; `links`
 * then fills the link arrays, which are allocated, and tables of its own;
 * `release` frees those. 0 or -1 with err, without the file's name.
 */
struct cpl_network_kind {
	const char *name;
	const char *const *keys;
	int (*shape)(struct cpl_network *net, const json_t *root,
	             struct cpl_error *err);
	int (*links)(struct cpl_network *net, struct cpl_error *err);
	void (*release)(struct cpl_network *net);
};

extern const struct cpl_network_kind cpl_network_kind_dragonfly;
extern const struct cpl_network_kind cpl_network_kind_torus;
extern const struct cpl_network_kind cpl_network_kind_fattree;
extern const struct cpl_network_kind cpl_network_kind_graph;
extern const struct cpl_network_kind cpl_network_kind_haec;

/*
 * "routing_table" of root, a file beside the network's: into net->routes, once
 * the links are there. path is the network file, NULL for a text in memory
 * (which cannot name one). Lines "src dst hop ... dst": router ids, each hop
 * one link on; "router:k" takes link k of parallel ones. Several lines of a
 * pair share its bytes evenly. Every ordered pair of routers with nodes needs
 * a route. 0 or -1 with err. O(file + pairs + links log links).
 */
int cpl_network_read_routes(struct cpl_network *net, const json_t *root,
                            const char *path, struct cpl_error *err);
/* The same from text. */
int cpl_network_parse_routes(struct cpl_network *net, const char *text,
                             size_t length, const char *source,
                             struct cpl_error *err);
void cpl_network_free_routes(struct cpl_route_table *routes);

/*
 * Read a dragonfly's "global_wiring", and with list its "global_links", once
 * the link classes are known; then fill gateway[]. 0 or -1 with err.
 */
int cpl_wiring_read(struct cpl_network *net, const json_t *root,
                    struct cpl_error *err);
int cpl_wiring_fill(struct cpl_network *net, struct cpl_error *err);

/*
 * Append a class of `count` links; -1 with err when the network's links get
 * too many.
 */
int cpl_network_add_class(struct cpl_network *net, const char *name,
                          int64_t count, double bandwidth,
                          struct cpl_error *err);

/*
 * object[key] as a bandwidth (bytes/s, positive and finite); untouched when
 * absent. object may be NULL.
 */
int cpl_network_bandwidth(const json_t *object, const char *key, double *out,
                          struct cpl_error *err);

/*
 * root's "dims": the lengths of an array into dim[], at most
 * CPL_NETWORK_MAX_DIMS, each within [1, CPL_NETWORK_MAX_ROUTERS] as is their
 * product, which becomes net->n_routers. Returns how many, or -1 with err.
 */
int cpl_network_dims(struct cpl_network *net, const json_t *root, int *dim,
                     struct cpl_error *err);

/* An integer in [1, high] that must be there. */
int cpl_network_size(const json_t *root, const char *key, int64_t high,
                     int *out, struct cpl_error *err);

#endif
