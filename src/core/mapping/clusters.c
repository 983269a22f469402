/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "graph/contract.h"
#include "graph/members.h"

/* cpl_clusters_centre adds up distances to at most this many targets. */
#define CENTRE_SAMPLE 4096
/* A search around a target goes on to all after one in so many of them. */
#define RING_SHARE 8

/* Clusters are blocks of ranks, or a partition where that cuts less. */
static int gather(struct cpl_clusters *t, struct cpl_error *err)
{
	const struct cpl_comm *graph = t->req->graph;
	int ranks = graph->ranks, rank = 0, rc;
	int *part;

	for (int i = 0; i < t->n; i++)
		for (int k = 0; k < t->size[i]; k++)
			t->cluster_of[rank++] = i;
	if (ranks == t->n || t->n == 1)
		return 0;
	part = malloc((size_t)ranks * sizeof(*part));
	if (!part)
		return cpl_fail_memory(err);
	rc = cpl_graph_partition(graph, t->size, t->n, t->req->seed,
	                         CPL_GRAPH_BISECT_RUNS, t->req->expired,
	                         t->req->expired_arg, part, err);
	if (!rc && cpl_graph_cut(graph, part) <
	                   cpl_graph_cut(graph, t->cluster_of))
		memcpy(t->cluster_of, part, (size_t)ranks * sizeof(*part));
	free(part);
	return rc;
}

static int contract(struct cpl_clusters *t, struct cpl_error *err)
{
	t->comm = cpl_comm_contract(t->req->comm, t->cluster_of, t->n,
	                            CPL_CONTRACT_NO_EMPTY, err);
	if (t->comm)
		t->graph = cpl_comm_symmetric(t->comm, err);
	return t->graph ? 0 : -1;
}

int cpl_clusters_init(struct cpl_clusters *t, const struct cpl_map_request *req,
                      struct cpl_error *err)
{
	int hosts = req->n_hosts;

	*t = (struct cpl_clusters){.req = req};
	t->target_host = cpl_arena_take(&t->arena, hosts, sizeof(int));
	t->node = cpl_arena_take(&t->arena, hosts, sizeof(int));
	t->size = cpl_arena_take(&t->arena, hosts, sizeof(int));
	t->cluster_of =
	        cpl_arena_take(&t->arena, req->comm->ranks, sizeof(int));
	t->first_on = cpl_arena_take(&t->arena, hosts, sizeof(int));
	t->next_on = cpl_arena_take(&t->arena, hosts, sizeof(int));
	if (cpl_out_of_memory(t->arena.failed, err))
		goto fail;
	for (int h = 0; h < hosts; h++) {
		if (!req->slots[h])
			continue;
		t->target_host[t->n] = h;
		t->node[t->n] = req->host[h];
		t->size[t->n++] = req->slots[h];
	}
	if (gather(t, err) || contract(t, err) ||
	    cpl_distance_init(&t->distance, req->net, req->routing, t->node,
	                      t->n, err) ||
	    cpl_rings_init(&t->rings, &t->distance, err) < 0)
		goto fail;
	cpl_members_chain(t->distance.leaf, t->n, t->distance.n_leaves,
	                  t->first_on, t->next_on);
	return 0;
fail:
	cpl_clusters_free(t);
	return -1;
}

void cpl_clusters_free(struct cpl_clusters *t)
{
	cpl_arena_free(&t->arena);
	cpl_comm_free(t->comm);
	cpl_comm_free(t->graph);
	cpl_distance_free(&t->distance);
	cpl_rings_free(&t->rings);
	*t = (struct cpl_clusters){0};
}

double cpl_clusters_bytes(const struct cpl_clusters *t, int from, int to)
{
	const struct cpl_comm *comm = t->comm;
	int64_t low = comm->row[from], high = comm->row[from + 1];

	CPL_BISECT(low, high, middle, comm->to[middle] < to);
	return low < comm->row[from + 1] && comm->to[low] == to
	               ? comm->bytes[low]
	               : 0;
}

/* On a torus all sums are made at once. -1: it is none, or memory is out. */
static int centre_of_torus(const struct cpl_clusters *t, int stride)
{
	size_t n = (size_t)t->n;
	double *weight = calloc(n, sizeof(*weight));
	double *sum = malloc(n * sizeof(*sum));
	int best = -1;

	if (!weight || !sum)
		goto out;
	for (int q = 0; q < t->n; q += stride)
		weight[t->distance.leaf[q]]++;
	if (!cpl_distance_sums(&t->distance, weight, sum))
		goto out;
	for (int p = 0; p < t->n; p++)
		if (best < 0 ||
		    sum[t->distance.leaf[p]] < sum[t->distance.leaf[best]])
			best = p;
out:
	cpl_free_all(weight, sum);
	return best;
}

int cpl_clusters_centre(struct cpl_clusters *t)
{
	int stride = (t->n + CENTRE_SAMPLE - 1) / CENTRE_SAMPLE;
	int best = centre_of_torus(t, stride);
	double least = 0;

	if (best >= 0)
		return best;
	best = 0;
	for (int p = 0; p < t->n; p++) {
		const float *row = cpl_clusters_row(t, p);
		double sum = 0;

		for (int q = 0; q < t->n; q += stride)
			sum += (double)row[t->distance.leaf[q]];
		if (p == 0 || sum < least) {
			least = sum;
			best = p;
		}
		if (p % 64 == 63 && cpl_map_expired(t->req))
			break;
	}
	return best;
}

/* Returns -1 where no free target is near enough. */
static int nearest_in_rings(const struct cpl_clusters *t, int cluster, int near,
                            const bool *used)
{
	const struct cpl_rings *rings = &t->rings;
	int centre = t->distance.leaf[near];

	for (int l = 0; l <= rings->max; l++) {
		int best = -1;

		if (rings->start[l] > t->n / RING_SHARE)
			break;
		for (int64_t i = rings->start[l]; i < rings->start[l + 1];
		     i++) {
			int leaf = cpl_rings_leaf(rings, centre, i);

			if (leaf < 0)
				continue;
			for (int p = t->first_on[leaf]; p >= 0;
			     p = t->next_on[p])
				if (!used[p] &&
				    cpl_clusters_fit(t, cluster, p) &&
				    (best < 0 || p < best))
					best = p;
		}
		if (best >= 0)
			return best;
	}
	return -1;
}

int cpl_clusters_put(struct cpl_clusters *t, int cluster, int near,
                     int *target_of, bool *used)
{
	const float *row;
	float least = 0;
	int best = -1;

	if (t->rings.distance)
		best = nearest_in_rings(t, cluster, near, used);
	row = best < 0 ? cpl_clusters_row(t, near) : NULL;
	for (int p = 0; row && p < t->n; p++) {
		float hops = row[t->distance.leaf[p]];

		if (used[p] || !cpl_clusters_fit(t, cluster, p))
			continue;
		if (best < 0 || hops < least) {
			least = hops;
			best = p;
		}
	}
	target_of[cluster] = best;
	used[best] = true;
	return best;
}

double cpl_clusters_hop_bytes(struct cpl_clusters *t, const int *target_of)
{
	const struct cpl_comm *graph = t->graph;
	double sum = 0;

	for (int i = 0; i < t->n; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			if (graph->to[e] > i)
				sum += graph->bytes[e] *
				       cpl_clusters_hops(
				               t, target_of[i],
				               target_of[graph->to[e]]);
	return sum;
}

int cpl_clusters_fill(const struct cpl_clusters *t, int *target_of,
                      struct cpl_error *err)
{
	bool *used = calloc((size_t)t->n, sizeof(*used));
	int size = -1, next = 0;

	if (!used)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->n; i++)
		if (target_of[i] >= 0)
			used[target_of[i]] = true;
	for (int i = 0; i < t->n; i++) {
		if (target_of[i] >= 0)
			continue;
		if (t->size[i] != size) {
			size = t->size[i];
			next = 0;
		}
		while (used[next] || t->size[next] != size)
			next++;
		used[next] = true;
		target_of[i] = next;
	}
	free(used);
	return 0;
}

int cpl_clusters_pair(const struct cpl_clusters *t, const int *cluster,
                      const int *target, int *target_of, struct cpl_error *err)
{
	bool *used = calloc((size_t)t->n, sizeof(*used));
	int first = 0;

	if (!used)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->n; i++) {
		int at = first;

		while (used[at] || !cpl_clusters_fit(t, cluster[i], target[at]))
			at++;
		used[at] = true;
		target_of[cluster[i]] = target[at];
		while (first < t->n && used[first])
			first++;
	}
	free(used);
	return 0;
}

int cpl_clusters_map(const struct cpl_map_request *req, int *rank_host,
                     int (*assign)(struct cpl_clusters *clusters,
                                   int *target_of, struct cpl_error *err),
                     struct cpl_error *err)
{
	struct cpl_clusters t;
	int *target_of, rc = -1;

	if (cpl_clusters_init(&t, req, err))
		return -1;
	target_of = cpl_clusters_take(&t, sizeof(*target_of));
	for (int i = 0; target_of && i < t.n; i++)
		target_of[i] = -1;
	if (!target_of)
		cpl_fail_memory(err);
	else if (!assign(&t, target_of, err))
		rc = cpl_clusters_fill(&t, target_of, err);
	for (int r = 0; !rc && r < req->comm->ranks; r++)
		rank_host[r] = t.target_host[target_of[t.cluster_of[r]]];
	cpl_clusters_free(&t);
	return rc;
}

int cpl_mapper_map(const struct cpl_mapper *mapper,
                   const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err)
{
	return mapper->assign
	               ? cpl_clusters_map(req, rank_host, mapper->assign, err)
	               : mapper->map(req, rank_host, err);
}
