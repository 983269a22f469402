/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/clusters.h"

/* An edge that leads to a cluster not mapped when it was pushed. */
struct item {
	double bytes;
	int cluster;
};

struct queue {
	struct item *item; /* binary heap, the heaviest on top */
	int64_t n;
};

static bool before(struct item a, struct item b)
{
	return a.bytes > b.bytes ||
	       (a.bytes == b.bytes && a.cluster < b.cluster);
}

static void push(struct queue *q, struct item item)
{
	int64_t at = q->n++;

	while (at > 0 && before(item, q->item[(at - 1) / 2])) {
		q->item[at] = q->item[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	q->item[at] = item;
}

static struct item pop(struct queue *q)
{
	struct item top = q->item[0], last = q->item[--q->n];
	int64_t at = 0;

	for (;;) {
		int64_t child = 2 * at + 1;

		if (child + 1 < q->n &&
		    before(q->item[child + 1], q->item[child]))
			child++;
		if (child >= q->n || !before(q->item[child], last))
			break;
		q->item[at] = q->item[child];
		at = child;
	}
	q->item[at] = last;
	return top;
}

static void push_partners(const struct cpl_clusters *t, int cluster,
                          const int *target_of, struct queue *q)
{
	const struct cpl_comm *graph = t->graph;

	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1]; e++)
		if (target_of[graph->to[e]] < 0)
			push(q, (struct item){graph->bytes[e], graph->to[e]});
}

static int heaviest_unmapped(const struct cpl_clusters *t, const int *target_of,
                             const double *weight)
{
	int best = -1;

	for (int i = 0; i < t->n; i++)
		if (target_of[i] < 0 && (best < 0 || weight[i] > weight[best]))
			best = i;
	return best;
}

static void run(struct cpl_clusters *t, int *target_of, struct queue *q,
                bool *used, const double *weight)
{
	int near = 0, cluster;

	while ((cluster = heaviest_unmapped(t, target_of, weight)) >= 0) {
		for (;;) {
			near = cpl_clusters_nearest(t, cluster, near, used);
			used[near] = true;
			target_of[cluster] = near;
			push_partners(t, cluster, target_of, q);
			while (q->n && target_of[q->item[0].cluster] >= 0)
				pop(q);
			if (!q->n)
				break;
			cluster = pop(q).cluster;
			if (cpl_clusters_expired(t))
				return;
		}
	}
}

static int assign(struct cpl_clusters *t, int *target_of, struct cpl_error *err)
{
	const struct cpl_comm *graph = t->graph;
	struct queue q = {
	        malloc(((size_t)graph->n_entries + 1) * sizeof(*q.item)), 0};
	bool *used = calloc((size_t)t->n, sizeof(*used));
	double *weight = calloc((size_t)t->n, sizeof(*weight));
	int rc = -1;

	if (!q.item || !used || !weight) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < t->n; i++)
		for (int64_t e = t->comm->row[i]; e < t->comm->row[i + 1]; e++)
			weight[i] += t->comm->bytes[e];
	run(t, target_of, &q, used, weight);
	rc = 0;
out:
	free(q.item);
	free(used);
	free(weight);
	return rc;
}

const struct cpl_mapper cpl_mapper_greedy = {
        .name = "greedy",
        .summary = "Hoefler-Snir: heaviest edge next, near the last host",
        .assign = assign,
};
