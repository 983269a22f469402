/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/members.h"
#include "mapping/clusters.h"

static int degree(const struct cpl_comm *graph, int v)
{
	return (int)(graph->row[v + 1] - graph->row[v]);
}

/* Lists what is reached breadth-first from `start` in order[0..], partners by
 * ascending degree, ties to the lowest, and marks it in seen[]. Returns how
 * many; *last is the vertex of least degree in the last level, ties to the
 * first. */
static int breadth_first(const struct cpl_comm *graph, int start, int *order,
                         int *level, bool *seen, int *last)
{
	int n = 0;

	order[n++] = start;
	seen[start] = true;
	level[start] = 0;
	for (int head = 0; head < n; head++) {
		int v = order[head], first = n;

		for (int64_t e = graph->row[v]; e < graph->row[v + 1]; e++) {
			int to = graph->to[e], at = n;

			if (seen[to])
				continue;
			seen[to] = true;
			level[to] = level[v] + 1;
			for (; at > first &&
			       degree(graph, order[at - 1]) > degree(graph, to);
			     at--)
				order[at] = order[at - 1];
			order[at] = to;
			n++;
		}
	}
	*last = order[n - 1];
	for (int i = n - 1; i >= 0 && level[order[i]] == level[order[n - 1]];
	     i--)
		if (degree(graph, order[i]) <= degree(graph, *last))
			*last = order[i];
	return n;
}

/* As George and Liu do, it restarts from the far end while that gets
 * farther. */
static int component(const struct cpl_comm *graph, int start, int *order,
                     int *level, bool *seen)
{
	int last, n, depth = -1;

	for (;;) {
		n = breadth_first(graph, start, order, level, seen, &last);
		if (level[last] <= depth)
			return n;
		depth = level[last];
		for (int i = 0; i < n; i++)
			seen[order[i]] = false;
		start = last;
	}
}

/* Reverse Cuthill-McKee; components start at their first least-degree
 * vertex. */
static int order_of(const struct cpl_comm *graph, int *order,
                    struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	bool *seen = cpl_arena_take(&arena, graph->ranks, sizeof(*seen));
	int *level = cpl_arena_take(&arena, graph->ranks, sizeof(*level));
	int n = 0;

	for (int v = 0; v < graph->ranks && !arena.failed; v++)
		if (!seen[v])
			n += component(graph, v, order + n, level, seen);
	for (int i = 0; i < n / 2; i++) {
		int v = order[i];

		order[i] = order[n - 1 - i];
		order[n - 1 - i] = v;
	}
	return cpl_arena_end(&arena, 0, err);
}

/* Orders targets as their routers, then by node id. */
static int order_targets(struct cpl_clusters *t, int *target,
                         struct cpl_error *err)
{
	const struct cpl_network *net = t->req->net;
	struct cpl_comm *graph = cpl_map_router_graph(net, err);
	int *order = cpl_arena_take(&t->arena, net->n_routers, sizeof(int));
	int *first = cpl_arena_take(&t->arena, net->n_routers, sizeof(int));
	int *next = cpl_clusters_take(t, sizeof(*next));
	int *router = cpl_clusters_take(t, sizeof(*router));
	int n = 0, rc = -1;

	if (t->arena.failed)
		cpl_fail_memory(err);
	else if (graph)
		rc = order_of(graph, order, err);
	cpl_comm_free(graph);
	if (rc)
		return -1;
	for (int p = 0; p < t->n; p++)
		router[p] = cpl_network_router(net, t->node[p]);
	cpl_members_chain(router, t->n, net->n_routers, first, next);
	for (int i = 0; i < net->n_routers; i++)
		for (int p = first[order[i]]; p >= 0; p = next[p])
			target[n++] = p;
	return 0;
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	int *cluster = cpl_clusters_take(t, sizeof(*cluster));
	int *target = cpl_clusters_take(t, sizeof(*target));

	if (t->arena.failed)
		return cpl_fail_memory(err);
	if (order_of(t->graph, cluster, err) || order_targets(t, target, err))
		return -1;
	return cpl_clusters_pair(t, cluster, target, target_of, err);
}

const struct cpl_mapper cpl_mapper_rcm = {
        .name = "rcm",
        .summary = "reverse Cuthill-McKee order of ranks and of routers",
        .assign = assign,
};
