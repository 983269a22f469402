/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "graph/contract.h"

/* Targets that cpl_clusters_centre adds up distances to, at the most. */
#define CENTRE_SAMPLE 4096
/* Share of the targets near another one after which all are looked at. */
#define RING_SHARE 8

static int list_targets(struct cpl_clusters *t, struct cpl_error *err)
{
	const struct cpl_map_request *req = t->req;
	size_t hosts = (size_t)req->n_hosts;

	t->target_host = malloc(hosts * sizeof(*t->target_host));
	t->node = malloc(hosts * sizeof(*t->node));
	t->room = malloc(hosts * sizeof(*t->room));
	t->size = malloc(hosts * sizeof(*t->size));
	if (!t->target_host || !t->node || !t->room || !t->size)
		return cpl_fail_memory(err);
	for (int h = 0; h < req->n_hosts; h++) {
		if (!req->slots[h])
			continue;
		t->target_host[t->n] = h;
		t->node[t->n] = req->host[h];
		t->room[t->n] = t->size[t->n] = req->slots[h];
		t->n++;
	}
	return 0;
}

/* Traffic between different clusters. */
static double cut(const struct cpl_comm *graph, const int *cluster_of)
{
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (cluster_of[r] != cluster_of[graph->to[e]])
				sum += graph->bytes[e];
	return sum;
}

/* Block order, cluster 0 the first ranks, or a partition that cuts less. */
static int gather(struct cpl_clusters *t, struct cpl_error *err)
{
	const struct cpl_comm *graph = t->req->graph;
	int ranks = graph->ranks, rank = 0;
	int *part;

	for (int i = 0; i < t->n; i++)
		for (int k = 0; k < t->size[i]; k++)
			t->cluster_of[rank++] = i;
	if (ranks == t->n || t->n == 1)
		return 0;
	part = malloc((size_t)ranks * sizeof(*part));
	if (!part)
		return cpl_fail_memory(err);
	if (cpl_graph_partition(graph, t->size, t->n, t->req->seed,
	                        t->req->expired, t->req->expired_arg, part,
	                        err)) {
		free(part);
		return -1;
	}
	if (cut(graph, part) < cut(graph, t->cluster_of))
		memcpy(t->cluster_of, part, (size_t)ranks * sizeof(*part));
	free(part);
	return 0;
}

static int contract(struct cpl_clusters *t, struct cpl_error *err)
{
	t->comm = cpl_comm_contract(t->req->comm, t->cluster_of, t->n,
	                            CPL_CONTRACT_NO_EMPTY, err);
	if (t->comm)
		t->graph = cpl_comm_symmetric(t->comm, err);
	return t->graph ? 0 : -1;
}

static int list_leaves(struct cpl_clusters *t, struct cpl_error *err)
{
	size_t n = (size_t)t->n;

	t->first_on = malloc(n * sizeof(*t->first_on));
	t->next_on = malloc(n * sizeof(*t->next_on));
	if (!t->first_on || !t->next_on)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->distance.n_leaves; i++)
		t->first_on[i] = -1;
	for (int p = t->n - 1; p >= 0; p--) {
		int leaf = t->distance.leaf[p];

		t->next_on[p] = t->first_on[leaf];
		t->first_on[leaf] = p;
	}
	return 0;
}

int cpl_clusters_init(struct cpl_clusters *clusters,
                      const struct cpl_map_request *req, struct cpl_error *err)
{
	struct cpl_clusters t = {.req = req};

	if (list_targets(&t, err))
		goto fail;
	t.cluster_of = malloc((size_t)req->comm->ranks * sizeof(*t.cluster_of));
	if (!t.cluster_of) {
		cpl_fail_memory(err);
		goto fail;
	}
	if (gather(&t, err) || contract(&t, err) ||
	    cpl_distance_init(&t.distance, req->net, req->routing, t.node, t.n,
	                      err) ||
	    list_leaves(&t, err))
		goto fail;
	*clusters = t;
	/* The rings keep the address. */
	if (cpl_rings_init(&clusters->rings, &clusters->distance, err) < 0) {
		cpl_clusters_free(clusters);
		return -1;
	}
	return 0;
fail:
	cpl_clusters_free(&t);
	return -1;
}

void cpl_clusters_free(struct cpl_clusters *t)
{
	free(t->target_host);
	free(t->node);
	free(t->room);
	free(t->size);
	free(t->cluster_of);
	cpl_comm_free(t->comm);
	cpl_comm_free(t->graph);
	cpl_distance_free(&t->distance);
	cpl_rings_free(&t->rings);
	free(t->first_on);
	free(t->next_on);
	*t = (struct cpl_clusters){0};
}

double cpl_clusters_bytes(const struct cpl_clusters *t, int from, int to)
{
	const struct cpl_comm *comm = t->comm;
	int64_t low = comm->row[from], high = comm->row[from + 1];

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (comm->to[middle] < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < comm->row[from + 1] && comm->to[low] == to
	               ? comm->bytes[low]
	               : 0;
}

/* On a torus all sums at once; -1: not there, or no memory. */
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
	free(weight);
	free(sum);
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
		const float *row =
		        cpl_distance_row(&t->distance, t->distance.leaf[p]);
		double sum = 0;

		for (int q = 0; q < t->n; q += stride)
			sum += (double)row[t->distance.leaf[q]];
		if (p == 0 || sum < least) {
			least = sum;
			best = p;
		}
		if (p % 64 == 63 && cpl_clusters_expired(t))
			break;
	}
	return best;
}

int cpl_clusters_heaviest(const struct cpl_clusters *t)
{
	const struct cpl_comm *graph = t->graph;
	double most = -1;
	int best = 0;

	for (int i = 0; i < t->n; i++) {
		double sum = 0;

		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			sum += graph->bytes[e];
		if (sum > most) {
			most = sum;
			best = i;
		}
	}
	return best;
}

/* -1: none near enough. */
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

int cpl_clusters_nearest(struct cpl_clusters *t, int cluster, int near,
                         const bool *used)
{
	const float *row;
	float least = 0;
	int best = -1;

	if (t->rings.distance) {
		best = nearest_in_rings(t, cluster, near, used);
		if (best >= 0)
			return best;
	}
	row = cpl_distance_row(&t->distance, t->distance.leaf[near]);
	for (int p = 0; p < t->n; p++) {
		float hops = row[t->distance.leaf[p]];

		if (used[p] || !cpl_clusters_fit(t, cluster, p))
			continue;
		if (best < 0 || hops < least) {
			least = hops;
			best = p;
		}
	}
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
		while (used[next] || t->room[next] != size)
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
	target_of = malloc((size_t)t.n * sizeof(*target_of));
	if (!target_of) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < t.n; i++)
		target_of[i] = -1;
	if (assign(&t, target_of, err) || cpl_clusters_fill(&t, target_of, err))
		goto out;
	for (int r = 0; r < req->comm->ranks; r++)
		rank_host[r] = t.target_host[target_of[t.cluster_of[r]]];
	rc = 0;
out:
	free(target_of);
	cpl_clusters_free(&t);
	return rc;
}
