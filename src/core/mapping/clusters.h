/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For mappers that put one cluster on each node: ranks are first gathered into
 * clusters, one for each host that has slots, as large as these; a cluster may
 * go to any host of its size.
 */
#ifndef CPL_MAPPING_CLUSTERS_H
#define CPL_MAPPING_CLUSTERS_H

#include "mapping/mapping_internal.h"

struct cpl_clusters {
	const struct cpl_map_request *req;
	int n;            /* clusters, and targets: hosts that have slots */
	int *target_host; /* [n] index into req->host */
	int *node;        /* [n] node id of a target */
	int *room;        /* [n] slots of a target */
	int *size;        /* [n] ranks of a cluster; cluster t has room[t] */
	int *cluster_of;  /* [ranks] */
	struct cpl_comm *comm;  /* between clusters, directed */
	struct cpl_comm *graph; /* between clusters, both ways, no diagonal */
	struct cpl_distance distance; /* leaves are those of targets */
	struct cpl_rings rings;       /* in an initialised struct only */
	int *first_on; /* [leaves] targets of a leaf, ascending */
	int *next_on;  /* [n] */
};

/* 0, or -1 with err (memory). O(entries log entries + the partition). */
int cpl_clusters_init(struct cpl_clusters *clusters,
                      const struct cpl_map_request *req, struct cpl_error *err);
void cpl_clusters_free(struct cpl_clusters *clusters);

static inline bool cpl_clusters_fit(const struct cpl_clusters *t, int cluster,
                                    int target)
{
	return t->size[cluster] == t->room[target];
}

/* Hops between targets. */
static inline double cpl_clusters_hops(struct cpl_clusters *t, int a, int b)
{
	return cpl_distance_between(&t->distance, t->distance.leaf[a],
	                            t->distance.leaf[b]);
}

/* Has the caller's budget run out? */
static inline bool cpl_clusters_expired(const struct cpl_clusters *t)
{
	return t->req->expired && t->req->expired(t->req->expired_arg);
}

/* Bytes from one cluster to another. O(log degree). */
double cpl_clusters_bytes(const struct cpl_clusters *clusters, int from,
                          int to);

/* The target nearest to all others, ties to the first. Every `stride`th other
 * is counted where there are many. O(n) on a torus, else O(n^2). */
int cpl_clusters_centre(struct cpl_clusters *clusters);

/* The heaviest cluster by traffic, ties to the first. O(entries). */
int cpl_clusters_heaviest(const struct cpl_clusters *clusters);

/*
 * The free target that fits the cluster and is nearest to target `near`, ties
 * to the first; -1: none. used[target] tells the free ones. O(n), on a torus
 * less where there is one near.
 */
int cpl_clusters_nearest(struct cpl_clusters *clusters, int cluster, int near,
                         const bool *used);

/* Hop-bytes of a whole layout, each pair of clusters counted once. O(entries).
 */
double cpl_clusters_hop_bytes(struct cpl_clusters *clusters,
                              const int *target_of);

/* Clusters with target_of -1 go, in order, to the first targets that fit. O(n)
 * for each size. 0, or -1 with err (memory). */
int cpl_clusters_fill(const struct cpl_clusters *clusters, int *target_of,
                      struct cpl_error *err);

/*
 * Give the i-th cluster of an order the i-th target of another; with sizes that
 * differ, the first target left that fits. 0, or -1 with err (memory). O(n),
 * O(n * sizes).
 */
int cpl_clusters_pair(const struct cpl_clusters *clusters, const int *cluster,
                      const int *target, int *target_of, struct cpl_error *err);

/* The layout of assign(), as a mapper's (struct cpl_mapper). */
int cpl_clusters_map(const struct cpl_map_request *req, int *rank_host,
                     int (*assign)(struct cpl_clusters *clusters,
                                   int *target_of, struct cpl_error *err),
                     struct cpl_error *err);

#endif
