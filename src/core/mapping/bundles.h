/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links that carry the same whatever the layout of a job is: those between a
 * leaf switch and the spines over which its bytes are spread evenly, the links
 * of a path that nothing else of the job crosses. A search by increments has
 * one number for all links of such a bundle, and one for each cable of a host:
 * an exchange of two ranks changes a few of them where it changes hundreds of
 * links.
 */
#ifndef CPL_MAPPING_BUNDLES_H
#define CPL_MAPPING_BUNDLES_H

#include "graph/arena.h"
#include "mapping/mapping.h"

/* What searches try to lower: the sum of this over all loads, in parts of the
 * largest. */
static inline double cpl_load_power(double x)
{
	double x2 = x * x, x4 = x2 * x2;

	return x4 * x4;
}

struct cpl_bundle_fraction {
	int bundle;
	double part; /* of a flow's bytes, over the bandwidth */
};

/* Made once, then only read. */
struct cpl_bundles {
	int n_links; /* bundles of links; none: there are no bundles */
	int n;       /* and of cables: see cpl_bundles_cable */
	int n_stops; /* routers of the hosts */
	int *stop;   /* [hosts] */
	int *place;  /* [hosts] the first host that is the same node */
	double *start;      /* [n] congestion by the request's background */
	int *link;          /* [n_links] the first of each bundle */
	double least;       /* congestion of links that the job cannot load */
	double cable;       /* seconds that a cable takes for a byte */
	int64_t path_links; /* links of the paths between all stops */
	int64_t *first;     /* [n_stops^2 + 1] into part, by pair of stops */
	struct cpl_bundle_fraction *part;
	int64_t n_parts;
	struct cpl_arena arena;
};

/*
 * Make the bundles of the request's network, routing, hosts and background. 1;
 * 0, with n_links 0, where there can be none: nodes of several ports, more than
 * max_links links on the paths between all stops, or the budget spent; -1 with
 * err (memory). O(those links). A routing that finds all paths together is
 * stood in for by cpl_routing_by_flow.
 */
int cpl_bundles_init(struct cpl_bundles *bundles,
                     const struct cpl_map_request *req, int64_t max_links,
                     struct cpl_error *err);
void cpl_bundles_free(struct cpl_bundles *bundles);

/* Number of the cable of a host out to its router, or in. O(1). */
static inline int cpl_bundles_cable(const struct cpl_bundles *b, int host,
                                    bool in)
{
	return b->n_links + 2 * b->place[host] + in;
}

/* What a layout puts on them, and what an exchange of ranks would change. */
struct cpl_bundle_loads {
	const struct cpl_bundles *bundles;
	const struct cpl_comm *graph;
	double *out, *in; /* [entries of graph] bytes to, and from, that rank */
	double *load;     /* [n] congestion, that by others included */
	/* The tentative part. */
	double *change; /* [n], 0 where not touched */
	int *touched;   /* [n_touched] */
	int n_touched;
	unsigned char *mark; /* [n] is in touched */
	struct cpl_arena arena;
};

/* Initialise by req's comm and graph, whose hosts are those of the bundles;
 * rank r is on rank_host[r]. 0, or -1 with err (memory). O(entries). */
int cpl_bundle_loads_init(struct cpl_bundle_loads *loads,
                          const struct cpl_bundles *bundles,
                          const struct cpl_map_request *req,
                          const int *rank_host, struct cpl_error *err);
void cpl_bundle_loads_free(struct cpl_bundle_loads *loads);

/* Add all up anew; nothing may be tentative. O(entries). */
void cpl_bundle_loads_afresh(struct cpl_bundle_loads *loads,
                             const int *rank_host);
/* Tentatively exchange a and b, which are on different hosts of rank_host;
 * rank_host is left as it is. One at a time. O(degrees). */
void cpl_bundle_loads_swap(struct cpl_bundle_loads *loads,
                           const int *rank_host, int a, int b);
/* O(touched). */
void cpl_bundle_loads_keep(struct cpl_bundle_loads *loads);
void cpl_bundle_loads_undo(struct cpl_bundle_loads *loads);

/* The largest of links, and of cables, as kept. O(n). */
void cpl_bundle_loads_max(const struct cpl_bundle_loads *loads, double *link,
                          double *cable);

#endif
