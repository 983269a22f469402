/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/grouping.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "graph/arena.h"

#define BUCKETS 8
#define SAMPLE (1 << BUCKETS)

struct edge {
	double bytes;
	int a, b;
};

struct fast {
	const struct cpl_comm *graph;
	int p, k, want, opened;
	int *raw;  /* [p] members of the groups, k each */
	int *size; /* [want] */
	int *of;   /* [p] group of an item, -1: free */
	struct edge *edge;
	int64_t n_edges;
};

static CPL_SORT_BY(by_bytes, struct edge, CPL_DOWN(bytes), CPL_UP(a), CPL_UP(b))

/* Pivots from elements at even steps: they only save sorting. */
static void find_pivots(const struct cpl_comm *graph, double *pivot)
{
	double sample[SAMPLE];
	int n = graph->n_entries < SAMPLE ? (int)graph->n_entries : SAMPLE;

	for (int i = 0; i < n; i++)
		sample[i] = graph->bytes[graph->n_entries / n * i];
	qsort(sample, (size_t)n, sizeof(*sample), cpl_by_double_down);
	for (int j = 1; j < BUCKETS; j++)
		pivot[j] = n ? sample[(1 << (j - 1)) % n] : 0;
	qsort(pivot + 1, BUCKETS - 1, sizeof(*pivot), cpl_by_double_down);
	pivot[0] = DBL_MAX;
	pivot[BUCKETS] = -1;
}

static int push(struct fast *f, double bytes, int a, int b)
{
	if (cpl_array_grow(&f->edge, f->n_edges, sizeof(*f->edge), NULL))
		return -1;
	f->edge[f->n_edges++] =
	        (struct edge){bytes, a < b ? a : b, a < b ? b : a};
	return 0;
}

/* Edges of the bucket that can still add an item to a group. */
static int collect(struct fast *f, double low, double high)
{
	const struct cpl_comm *graph = f->graph;

	f->n_edges = 0;
	for (int i = 0; i < graph->ranks; i++) {
		if (f->of[i] >= 0)
			continue;
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++) {
			int to = graph->to[e];
			bool both = f->of[to] < 0;

			if (graph->bytes[e] < low || graph->bytes[e] >= high ||
			    (both ? to < i : f->k == 2))
				continue;
			if (push(f, graph->bytes[e], i, to) < 0)
				return -1;
		}
	}
	for (int64_t e = 1; e < f->n_edges; e++)
		if (by_bytes(&f->edge[e - 1], &f->edge[e]) > 0) {
			qsort(f->edge, (size_t)f->n_edges, sizeof(*f->edge),
			      by_bytes);
			break;
		}
	return 0;
}

static void take_edge(struct fast *f, int a, int b)
{
	int k = f->k;

	if (f->of[a] < 0 && f->of[b] < 0) {
		if (f->opened == f->want)
			return;
		f->of[a] = f->of[b] = f->opened;
		f->raw[(size_t)f->opened * k] = a;
		f->raw[(size_t)f->opened * k + 1] = b;
		f->size[f->opened++] = 2;
	} else if ((f->of[a] < 0) != (f->of[b] < 0)) {
		int joiner = f->of[a] < 0 ? a : b;
		int g = f->of[a] < 0 ? f->of[b] : f->of[a];

		if (f->size[g] == k)
			return;
		f->of[joiner] = g;
		f->raw[(size_t)g * k + f->size[g]++] = joiner;
	}
}

/* The free item of largest traffic to the group, ties to the lowest. */
static int best_joiner(const struct fast *f, int g, double *affinity)
{
	const struct cpl_comm *graph = f->graph;
	const int *member = f->raw + (size_t)g * f->k;
	int best = -1;

	memset(affinity, 0, (size_t)f->p * sizeof(*affinity));
	for (int j = 0; j < f->size[g]; j++) {
		if (member[j] >= graph->ranks)
			continue;
		for (int64_t e = graph->row[member[j]];
		     e < graph->row[member[j] + 1]; e++)
			affinity[graph->to[e]] += graph->bytes[e];
	}
	for (int i = 0; i < f->p; i++)
		if (f->of[i] < 0 && (best < 0 || affinity[i] > affinity[best]))
			best = i;
	return best;
}

/* Groups to which no item has traffic left take the remaining items in
 * order. */
static void fill_groups(struct fast *f, double *affinity)
{
	int free_item = 0;

	for (int g = 0; g < f->want; g++)
		while (f->size[g] < f->k) {
			int i;

			if (f->size[g]) {
				i = best_joiner(f, g, affinity);
			} else {
				while (f->of[free_item] >= 0)
					free_item++;
				i = free_item;
			}
			f->of[i] = g;
			f->raw[(size_t)g * f->k + f->size[g]++] = i;
		}
}

/* Groups sorted inside and by smallest member. */
static void write_groups(const struct fast *f, struct cpl_groups *out)
{
	int k = f->k, n = 0;

	for (int g = 0; g < f->want; g++)
		qsort(f->raw + (size_t)g * k, (size_t)k, sizeof(*f->raw),
		      cpl_by_int);
	for (int i = 0; i < f->p; i++) {
		int *to = out->member + (size_t)n * k;

		if (f->of[i] < 0 || f->raw[(size_t)f->of[i] * k] != i)
			continue;
		memcpy(to, f->raw + (size_t)f->of[i] * k,
		       (size_t)k * sizeof(*to));
		n++;
		out->start[n] = n * k;
	}
}

int cpl_treematch_group_fast(const struct cpl_comm *graph, int p, int k,
                             struct cpl_groups *out, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	struct fast f = {
	        .graph = graph,
	        .p = p,
	        .k = k,
	        .want = p / k,
	        .raw = cpl_arena_take(&arena, p, sizeof(int)),
	        .size = cpl_arena_take(&arena, p / k, sizeof(int)),
	        .of = cpl_arena_take(&arena, p, sizeof(int)),
	};
	double *affinity = cpl_arena_take(&arena, p, sizeof(*affinity));
	double pivot[BUCKETS + 1];
	int rc = -1;

	if (arena.failed)
		goto done;
	for (int i = 0; i < p; i++)
		f.of[i] = -1;
	find_pivots(graph, pivot);
	for (int j = 1; j <= BUCKETS; j++) {
		if (pivot[j] >= pivot[j - 1])
			continue;
		if (collect(&f, pivot[j], pivot[j - 1]) < 0) {
			arena.failed = true;
			goto done;
		}
		for (int64_t e = 0; e < f.n_edges; e++)
			take_edge(&f, f.edge[e].a, f.edge[e].b);
	}
	fill_groups(&f, affinity);
	if (cpl_groups_alloc(out, f.want, p, err) < 0)
		goto done;
	write_groups(&f, out);
	rc = 0;
done:
	free(f.edge);
	return cpl_arena_end(&arena, rc, err);
}
