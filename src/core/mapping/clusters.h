/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Some mappers put one cluster on each node. For them ranks are first gathered
 * into clusters, one for each host that has slots and as large as these; a
 * cluster may go to any host of its size.
 */
#pragma once

#include "graph/arena.h"
#include "mapping/mapping_internal.h"

struct cpl_clusters {
	const struct cpl_map_request *req;
	struct cpl_arena arena; /* for the clusters and whoever maps them */
	int n;            /* clusters, and as many targets: hosts with slots */
	int *target_host; /* [n] index into req->host */
	int *node;        /* [n] node id of a target */
	int *size;        /* [n] ranks of cluster i, slots of target i */
	int *cluster_of;  /* [ranks] */
	struct cpl_comm *comm;  /* between clusters, directed */
	struct cpl_comm *graph; /* between clusters, both ways, no diagonal */
	struct cpl_distance distance; /* its leaves are those of targets */
	struct cpl_rings rings;
	int *first_on, *next_on; /* chains of the targets of a leaf */
};

/* The struct must not be moved afterwards. Returns 0, or -1 with err (memory),
 * in O(entries log entries) and the time of the partition. */
int cpl_clusters_init(struct cpl_clusters *clusters,
                      const struct cpl_map_request *req, struct cpl_error *err);
void cpl_clusters_free(struct cpl_clusters *clusters);

/* An array of n items, freed with the clusters, or NULL (cpl_arena_take). */
static inline void *cpl_clusters_take(struct cpl_clusters *t, size_t size)
{
	return cpl_arena_take(&t->arena, t->n, size);
}

static inline bool cpl_clusters_fit(const struct cpl_clusters *t, int cluster,
                                    int target)
{
	return t->size[cluster] == t->size[target];
}

/* Hops between two targets, and next from one to all leaves. */
static inline double cpl_clusters_hops(struct cpl_clusters *t, int a, int b)
{
	return cpl_distance_between(&t->distance, t->distance.leaf[a],
	                            t->distance.leaf[b]);
}

static inline const float *cpl_clusters_row(struct cpl_clusters *t, int target)
{
	return cpl_distance_row(&t->distance, t->distance.leaf[target]);
}

/* The bytes that one cluster sends to another. O(log degree). */
double cpl_clusters_bytes(const struct cpl_clusters *clusters, int from,
                          int to);

/* The target nearest to all others, ties to the first. Where there are many,
 * every `stride`th other is counted. O(n) on a torus, else O(n^2). */
int cpl_clusters_centre(struct cpl_clusters *clusters);

/* Puts the cluster on the free target that fits it and is nearest to target
 * `near`, ties to the first, and returns that target; target_of[cluster] and
 * used[target] are set. O(n), on a torus less where a near one is free. */
int cpl_clusters_put(struct cpl_clusters *clusters, int cluster, int near,
                     int *target_of, bool *used);

/* A layout's hop-bytes, each pair of clusters counted once. O(entries). */
double cpl_clusters_hop_bytes(struct cpl_clusters *clusters,
                              const int *target_of);

/* Clusters with target_of -1 go, in order, to the first targets that fit.
 * Returns 0, or -1 with err (memory), in O(n) for each size. */
int cpl_clusters_fill(const struct cpl_clusters *clusters, int *target_of,
                      struct cpl_error *err);

/* Gives the i-th cluster of one order the i-th target of another; where sizes
 * differ, the first target left that fits. Returns 0, or -1 with err (memory),
 * in O(n), or O(n * sizes). */
int cpl_clusters_pair(const struct cpl_clusters *clusters, const int *cluster,
                      const int *target, int *target_of, struct cpl_error *err);

/* Turns the layout of assign() into rank_host, as a mapper's map() does. */
int cpl_clusters_map(const struct cpl_map_request *req, int *rank_host,
                     int (*assign)(struct cpl_clusters *clusters,
                                   int *target_of, struct cpl_error *err),
                     struct cpl_error *err);
