/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mapping/tasks.h"

/* Sort id[] so that each half is one side of a bisection of the graph, and so
 * on in the halves; vertex i of the graph is id[i]. Out of time: as it is. */
static int halve(const struct cpl_tasks *t, const struct cpl_comm *graph,
                 int *id, struct cpl_error *err)
{
	int n = graph->ranks, left = n / 2, used[2] = {0, left};
	unsigned char *side;
	int *vertex, *copy, rc = -1;

	if (n < 2 || cpl_tasks_expired(t))
		return 0;
	side = malloc((size_t)n);
	vertex = malloc((size_t)n * sizeof(*vertex));
	copy = malloc((size_t)n * sizeof(*copy));
	if (!side || !vertex || !copy) {
		cpl_fail_memory(err);
		goto out;
	}
	if (cpl_map_bisect(graph, left, t->req->seed, t->req->expired,
	                   t->req->expired_arg, side, err))
		goto out;
	memcpy(copy, id, (size_t)n * sizeof(*copy));
	for (int v = 0; v < n; v++) {
		id[used[side[v]]] = copy[v];
		vertex[used[side[v]]++] = v;
	}
	for (int k = 0; k < 2; k++) {
		int first = k ? left : 0, size = k ? n - left : left;
		struct cpl_comm *half =
		        cpl_comm_subset(graph, vertex + first, size, err);

		if (!half)
			goto out;
		rc = halve(t, half, id + first, err);
		cpl_comm_free(half);
		if (rc)
			goto out;
	}
	rc = 0;
out:
	free(side);
	free(vertex);
	free(copy);
	return rc;
}

/* Places of one router are joined in a row, the first ones of routers that are
 * linked to each other. */
static struct cpl_comm *place_graph(const struct cpl_tasks *t,
                                    struct cpl_error *err)
{
	const struct cpl_network *net = t->req->net;
	size_t max = (size_t)net->n_links + (size_t)t->n + 1;
	struct cpl_comm_entry *entry = malloc(max * sizeof(*entry));
	int *first = malloc((size_t)net->n_routers * sizeof(*first));
	struct cpl_comm *directed = NULL, *graph = NULL;
	int64_t n = 0;

	if (!entry || !first) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int r = 0; r < net->n_routers; r++)
		first[r] = -1;
	for (int p = 0; p < t->n; p++) {
		int *at = &first[cpl_network_router(net, t->node[p])];

		if (*at >= 0)
			entry[n++] = (struct cpl_comm_entry){*at, p, 4, 1};
		else
			*at = p;
	}
	for (int64_t l = 0; l < net->n_links; l++) {
		int a = first[net->link_from[l]], b = first[net->link_to[l]];

		if (a >= 0 && b >= 0 && a != b)
			entry[n++] = (struct cpl_comm_entry){a, b, 1, 1};
	}
	directed = cpl_comm_build(t->n, entry, n, err);
	if (directed)
		graph = cpl_comm_symmetric(directed, err);
out:
	cpl_comm_free(directed);
	free(entry);
	free(first);
	return graph;
}

static int place(struct cpl_tasks *t, int *place_of, struct cpl_error *err)
{
	struct cpl_comm *places = place_graph(t, err);
	int *task = malloc((size_t)t->n * sizeof(*task));
	int *place = malloc((size_t)t->n * sizeof(*place));
	int rc = -1;

	if (!places)
		goto out;
	if (!task || !place) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < t->n; i++)
		task[i] = place[i] = i;
	if (!halve(t, t->graph, task, err) && !halve(t, places, place, err))
		rc = cpl_tasks_pair(t, task, place, place_of, err);
out:
	cpl_comm_free(places);
	free(task);
	free(place);
	return rc;
}

const struct cpl_mapper cpl_mapper_bipartition = {
        .name = "bipartition",
        .summary = "bisects ranks and hosts alike, again and again",
        .place = place,
};
