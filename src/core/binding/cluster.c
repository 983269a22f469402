/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <hwloc/distances.h>

#include "graph/arena.h"

/* A matrix of all pairs of ranks is kept, which limits their number. */
#define MAX_RANKS 8192

/* Clusters are nodes of the dendrogram that were not joined further: rank lists
 * chained by next[] from the cluster's index on. */
struct clusters {
	int n, cap;
	double *flow;     /* [n * n] rows and columns of clusters in use */
	int *size;        /* [n], 0: joined to another */
	int *next, *last; /* [n] ranks of a cluster, from the cluster's index */
	int *best;        /* [n] partner of largest flow that fits, or -1 */
};

static void find_partner(struct clusters *c, int i)
{
	const double *row = c->flow + (size_t)i * c->n;
	int best = -1;

	for (int j = i + 1; j < c->n; j++)
		if (c->size[j] && c->size[i] + c->size[j] <= c->cap &&
		    (best < 0 || row[j] > row[best]))
			best = j;
	c->best[i] = best;
}

static void join(struct clusters *c, int i, int j)
{
	double *row = c->flow + (size_t)i * c->n;
	const double *other = c->flow + (size_t)j * c->n;

	for (int k = 0; k < c->n; k++) {
		row[k] += other[k];
		c->flow[(size_t)k * c->n + i] = row[k];
	}
	row[i] = 0;
	c->next[c->last[i]] = j;
	c->last[i] = c->last[j];
	c->size[i] += c->size[j];
	c->size[j] = 0;
}

/* By algorithm 1 the largest entry is joined, ties to the first in the rows; a
 * cluster that is full takes no more. */
static void agglomerate(struct clusters *c)
{
	for (int i = 0; i < c->n; i++)
		find_partner(c, i);
	for (;;) {
		int a = -1;

		for (int i = 0; i < c->n; i++)
			if (c->size[i] && c->best[i] >= 0 &&
			    (a < 0 ||
			     c->flow[(size_t)i * c->n + c->best[i]] >
			             c->flow[(size_t)a * c->n + c->best[a]]))
				a = i;
		if (a < 0)
			return;
		join(c, a, c->best[a]);
		/* Only a's flows grew, and its old partner is gone. */
		for (int i = 0; i < c->n; i++) {
			int b = c->best[i];

			if (!c->size[i])
				continue;
			if (i >= a || b < 0 || b == a || !c->size[b] ||
			    c->size[i] + c->size[b] > c->cap) {
				find_partner(c, i);
				continue;
			}
			if (c->size[i] + c->size[a] <= c->cap &&
			    (c->flow[(size_t)i * c->n + a] >
			             c->flow[(size_t)i * c->n + b] ||
			     (c->flow[(size_t)i * c->n + a] ==
			              c->flow[(size_t)i * c->n + b] &&
			      a < b)))
				c->best[i] = a;
		}
	}
}

struct sockets {
	int n;
	int *first, *n_free; /* [n] next free slot, and how many are free */
	double *penalty;     /* [n * n] */
	unsigned char *taken;
};

static hwloc_obj_t memory_of(const struct cpl_bind_problem *problem, int slot)
{
	hwloc_obj_t node = NULL;

	while ((node = hwloc_get_next_obj_by_type(
	                problem->req->topology, HWLOC_OBJ_NUMANODE, node)))
		if (hwloc_bitmap_intersects(node->cpuset,
		                            problem->slots->cpuset[slot]))
			break;
	return node;
}

/* Takes latencies of the memory between sockets where hwloc knows them. */
static void measure(const struct cpl_bind_problem *problem, struct sockets *s)
{
	const struct cpl_tree *tree = problem->tree;
	struct hwloc_distances_s *d = NULL;
	unsigned found = 1;

	for (int i = 0; i < s->n; i++)
		for (int j = 0; j < s->n; j++)
			s->penalty[i * s->n + j] = cpl_tree_distance(
			        tree, s->first[i], s->first[j]);
	if (!problem->slots ||
	    hwloc_distances_get_by_type(
	            problem->req->topology, HWLOC_OBJ_NUMANODE, &found, &d,
	            HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) ||
	    found == 0 || !d)
		return;
	for (int i = 0; i < s->n * s->n; i++) {
		hwloc_uint64_t ab, ba;
		hwloc_obj_t a = memory_of(problem, s->first[i / s->n]);
		hwloc_obj_t b = memory_of(problem, s->first[i % s->n]);

		if (a && b &&
		    !hwloc_distances_obj_pair_values(d, a, b, &ab, &ba))
			s->penalty[i] = (double)ab + (double)ba;
	}
	hwloc_distances_release(problem->req->topology, d);
}

static int find_sockets(const struct cpl_bind_problem *problem,
                        struct cpl_arena *arena, struct sockets *s)
{
	const struct cpl_tree *tree = problem->tree;
	int level = problem->slots ? problem->slots->socket_level
	                           : tree->n_levels - 1;
	int last = problem->graph->ranks - 1;

	/* There are as many sockets as the ranks fill, in tree order. */
	s->n = level < 0 ? 1 : cpl_tree_object(tree, level, last) + 1;
	s->first = cpl_arena_take(arena, s->n, sizeof(*s->first));
	s->n_free = cpl_arena_take(arena, s->n, sizeof(*s->n_free));
	s->taken = cpl_arena_take(arena, s->n, 1);
	s->penalty = cpl_arena_take(arena, (int64_t)s->n * s->n,
	                            sizeof(*s->penalty));
	if (arena->failed)
		return -1;
	for (int i = tree->n_slots - 1; i >= 0; i--) {
		int o = level < 0 ? 0 : cpl_tree_object(tree, level, i);

		if (o >= s->n)
			continue;
		s->first[o] = i;
		s->n_free[o]++;
	}
	measure(problem, s);
	return 0;
}

static void assign(struct clusters *c, struct sockets *s, int cluster,
                   int socket, int *slot)
{
	for (int r = cluster; r >= 0; r = c->next[r]) {
		slot[r] = s->first[socket]++;
		s->n_free[socket]--;
	}
	c->size[cluster] = 0;
	s->taken[socket] = 1;
}

/* Puts pairs of clusters with most flow on pairs of neighbouring sockets. */
static void bind_pairs(struct clusters *c, struct sockets *s, int *slot)
{
	for (;;) {
		int a = -1, b = -1, from = -1, to = -1;

		for (int i = 0; i < c->n; i++)
			for (int j = i + 1; c->size[i] && j < c->n; j++)
				if (c->size[j] &&
				    (a < 0 ||
				     c->flow[(size_t)i * c->n + j] >
				             c->flow[(size_t)a * c->n + b])) {
					a = i;
					b = j;
				}
		if (a < 0)
			return;
		for (int i = 0; i < s->n; i++)
			for (int j = 0; j < s->n; j++)
				if (i != j && !s->taken[i] && !s->taken[j] &&
				    s->n_free[i] >= c->size[a] &&
				    s->n_free[j] >= c->size[b] &&
				    (from < 0 ||
				     s->penalty[i * s->n + j] <
				             s->penalty[from * s->n + to])) {
					from = i;
					to = j;
				}
		if (from < 0)
			return;
		assign(c, s, a, from, slot);
		assign(c, s, b, to, slot);
	}
}

/* Puts the first ranks of a cluster, which talk most, where most slots are
 * free, and makes a cluster of the rest. */
static void split_cluster(struct clusters *c, struct sockets *s, int cluster,
                          int *slot)
{
	int most = 0, left = c->size[cluster], r = cluster;

	for (int i = 1; i < s->n; i++)
		if (s->n_free[i] > s->n_free[most])
			most = i;
	c->size[cluster] = 0;
	for (; s->n_free[most] > 0; r = c->next[r], left--) {
		slot[r] = s->first[most]++;
		s->n_free[most]--;
	}
	c->size[r] = left;
}

/* Puts other clusters, the largest first, where they fit whole, or in parts. */
static void bind_rest(struct clusters *c, struct sockets *s, int *slot)
{
	for (;;) {
		int a = -1, to = -1;

		for (int i = 0; i < c->n; i++)
			if (c->size[i] && (a < 0 || c->size[i] > c->size[a]))
				a = i;
		if (a < 0)
			return;
		for (int i = 0; i < s->n; i++)
			if (s->n_free[i] >= c->size[a] &&
			    (to < 0 || s->n_free[i] < s->n_free[to]))
				to = i;
		if (to >= 0)
			assign(c, s, a, to, slot);
		else
			split_cluster(c, s, a, slot);
	}
}

static int bind_cluster(const struct cpl_bind_problem *problem, int *slot,
                        struct cpl_error *err)
{
	const struct cpl_comm *graph = problem->graph;
	int n = graph->ranks;
	struct clusters c = {.n = n};
	struct sockets s = {0};
	struct cpl_arena arena = {0};

	if (n > MAX_RANKS)
		return cpl_fail(err,
		                "%d ranks; cluster takes up to %d, treematch "
		                "and best take more",
		                n, MAX_RANKS);
	c.flow = cpl_arena_take(&arena, (int64_t)n * n, sizeof(*c.flow));
	c.size = cpl_arena_take(&arena, n, sizeof(*c.size));
	c.next = cpl_arena_take(&arena, n, sizeof(*c.next));
	c.last = cpl_arena_take(&arena, n, sizeof(*c.last));
	c.best = cpl_arena_take(&arena, n, sizeof(*c.best));
	if (find_sockets(problem, &arena, &s) < 0)
		goto done;
	for (int i = 0; i < s.n; i++)
		if (s.n_free[i] > c.cap)
			c.cap = s.n_free[i];
	for (int i = 0; i < n; i++) {
		c.size[i] = 1;
		c.next[i] = -1;
		c.last[i] = i;
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			c.flow[(size_t)i * n + graph->to[e]] = graph->bytes[e];
	}
	agglomerate(&c);
	bind_pairs(&c, &s, slot);
	bind_rest(&c, &s, slot);
done:
	return cpl_arena_end(&arena, 0, err);
}

const struct cpl_binder cpl_binder_cluster = {
        .name = "cluster",
        .summary = "clusters of socket size that talk most",
        .bind = bind_cluster,
};
