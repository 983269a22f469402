/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/clusters.h"

static int degree(const struct cpl_comm *graph, int v)
{
	return (int)(graph->row[v + 1] - graph->row[v]);
}

/*
 * Breadth-first from `start`, partners by ascending degree, ties to the
 * lowest, into order[0..]; seen[] marks what was reached. Returns how many, and
 * the first of the last level of least degree in *last.
 */
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

/* George and Liu: restart from the far end while that is farther away. */
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

/* Reverse Cuthill-McKee; components by their first vertex of least degree. */
static int order_of(const struct cpl_comm *graph, int *order,
                    struct cpl_error *err)
{
	size_t size = (size_t)graph->ranks;
	bool *seen = calloc(size, sizeof(*seen));
	int *level = malloc(size * sizeof(*level));
	int n = 0, rc = -1;

	if (!seen || !level) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int v = 0; v < graph->ranks; v++)
		if (!seen[v])
			n += component(graph, v, order + n, level, seen);
	for (int i = 0; i < n / 2; i++) {
		int v = order[i];

		order[i] = order[n - 1 - i];
		order[n - 1 - i] = v;
	}
	rc = 0;
out:
	free(seen);
	free(level);
	return rc;
}

/* Targets by the order of their routers, then by node id. */
static int order_targets(const struct cpl_clusters *t, int *target,
                         struct cpl_error *err)
{
	const struct cpl_network *net = t->req->net;
	struct cpl_comm *graph = cpl_map_router_graph(net, err);
	int *order, *first, *next, n = 0, rc = -1;

	if (!graph)
		return -1;
	order = malloc((size_t)net->n_routers * sizeof(*order));
	first = malloc((size_t)net->n_routers * sizeof(*first));
	next = malloc((size_t)t->n * sizeof(*next));
	if (!order || !first || !next) {
		cpl_fail_memory(err);
		goto out;
	}
	if (order_of(graph, order, err))
		goto out;
	for (int i = 0; i < net->n_routers; i++)
		first[i] = -1;
	for (int p = t->n - 1; p >= 0; p--) {
		int router = cpl_network_router(net, t->node[p]);

		next[p] = first[router];
		first[router] = p;
	}
	for (int i = 0; i < net->n_routers; i++)
		for (int p = first[order[i]]; p >= 0; p = next[p])
			target[n++] = p;
	rc = 0;
out:
	free(order);
	free(first);
	free(next);
	cpl_comm_free(graph);
	return rc;
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	int *cluster = malloc((size_t)t->n * sizeof(*cluster));
	int *target = malloc((size_t)t->n * sizeof(*target));
	int rc = -1;

	if (!cluster || !target)
		cpl_fail_memory(err);
	else if (!order_of(t->graph, cluster, err) &&
	         !order_targets(t, target, err))
		rc = cpl_clusters_pair(t, cluster, target, target_of, err);
	free(cluster);
	free(target);
	return rc;
}

const struct cpl_mapper cpl_mapper_rcm = {
        .name = "rcm",
        .summary = "reverse Cuthill-McKee order of ranks and of routers",
        .assign = assign,
};
