/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Some links carry the same bytes whatever the layout of a job is: those
 * between a leaf switch and the spines over which its bytes are spread evenly,
 * and the links of a path that nothing else of the job crosses. A search by
 * increments keeps one number for all links of such a bundle, and one for each
 * cable of a host: an exchange of two ranks then changes a few numbers instead
 * of hundreds of links.
 */
#pragma once

#include "graph/arena.h"
#include "mapping/mapping.h"

/* Searches lower the sum of this over all loads, in parts of the largest. */
static inline double cpl_load_power(double x)
{
	double x2 = x * x, x4 = x2 * x2;

	return x4 * x4;
}

struct cpl_bundle_fraction {
	int bundle;
	double part; /* a flow's part on it, over the bandwidth */
};

/* Bundles are made once and then only read, so that threads can share them. */
struct cpl_bundles {
	int n_links; /* bundles of links; 0: there are none */
	int n;       /* bundles and cables, see cpl_bundles_cable */
	int n_stops; /* routers of the hosts */
	int *stop;   /* [hosts] */
	int *place;  /* [hosts] the first host that is the same node */
	double *start;      /* [n] congestion by the background */
	int *link;          /* [n_links] the first of each bundle */
	double least;       /* congestion of links that the job cannot load */
	double cable;       /* seconds that a cable takes for a byte */
	int64_t path_links; /* links of the paths between all stops */
	int64_t *first;     /* [n_stops^2 + 1] into part, by pair of stops */
	struct cpl_bundle_fraction *part;
	int64_t n_parts;
	struct cpl_arena arena;
};

/* Makes the bundles of the request's network, routing, hosts and background.
 * Returns 1, or 0 with n_links 0 where there can be none (nodes have several
 * ports, the paths between all stops have more than max_links links, or the
 * budget is spent), or -1 with err (memory), in O(those links). For a routing
 * that finds all paths together cpl_routing_by_flow stands in. */
int cpl_bundles_init(struct cpl_bundles *bundles,
                     const struct cpl_map_request *req, int64_t max_links,
                     struct cpl_error *err);
void cpl_bundles_free(struct cpl_bundles *bundles);

/* The number of a host's cable to its router, or with `in` from there. O(1). */
static inline int cpl_bundles_cable(const struct cpl_bundles *b, int host,
                                    bool in)
{
	return b->n_links + 2 * b->place[host] + in;
}

/* What a layout puts on bundles, and what an exchange of ranks would change. */
struct cpl_bundle_loads {
	const struct cpl_bundles *bundles;
	const struct cpl_comm *graph;
	double *out, *in; /* [entries of graph] bytes to, and from, that rank */
	double *load;     /* [n] congestion, background included */
	/* The part of an exchange that is tried. */
	double *change; /* [n], 0 where not touched */
	int *touched;   /* [n_touched] */
	int n_touched;
	unsigned char *mark; /* [n] whether it is in touched */
	struct cpl_arena arena;
};

/* Starts with rank r on rank_host[r]; req has comm and graph, and the hosts of
 * the bundles. Returns 0, or -1 with err (memory), in O(entries). */
int cpl_bundle_loads_init(struct cpl_bundle_loads *loads,
                          const struct cpl_bundles *bundles,
                          const struct cpl_map_request *req,
                          const int *rank_host, struct cpl_error *err);
void cpl_bundle_loads_free(struct cpl_bundle_loads *loads);

/* Adds up all loads anew, so that rounding does not pile up; no exchange may be
 * under trial. O(entries). */
void cpl_bundle_loads_afresh(struct cpl_bundle_loads *loads,
                             const int *rank_host);
/* Tries the exchange of a and b, which are on different hosts of rank_host;
 * that array stays as it is. One exchange can be under trial at a time.
 * O(degrees). */
void cpl_bundle_loads_swap(struct cpl_bundle_loads *loads,
                           const int *rank_host, int a, int b);
/* Makes the exchange under trial part of the loads. O(touched). */
void cpl_bundle_loads_keep(struct cpl_bundle_loads *loads);
void cpl_bundle_loads_undo(struct cpl_bundle_loads *loads);

/* The largest congestion of links, and of cables, without any trial. O(n). */
void cpl_bundle_loads_max(const struct cpl_bundle_loads *loads, double *link,
                          double *cable);
