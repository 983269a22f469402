/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "binding/binding_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Exhaustive grouping below CPL_TREEMATCH_MAX_GROUPS with 2 <= k < p means at
 * most 245 items (k = 2) and groups of at most 8 (p = 16). */
#define MAX_ITEMS 256
#define MAX_K 8
/* The third heuristic compares all pairs of groups. */
#define MAX_GROUPS_DEGREE 3000
#define MAX_COVER_STEPS 200000

struct group {
	uint64_t items[MAX_ITEMS / 64];
	double weight; /* traffic that leaves the group, both ways */
	double degree;
	unsigned char member[MAX_K];
	int index; /* in lexicographic order */
};

double cpl_binomial(int n, int k)
{
	double c = 1;

	if (k < 0 || k > n)
		return 0;
	if (k > n - k)
		k = n - k;
	for (int i = 1; i <= k; i++)
		c = c * (n - k + i) / i;
	return c;
}

int cpl_treematch_divide(int p, int k)
{
	double whole = cpl_binomial(p, k);
	int d = k / 2;

	while (d > 1 && k % d)
		d--;
	if (d <= 1 || whole < CPL_TREEMATCH_MAX_GROUPS ||
	    !(whole > d * cpl_binomial(p, k / d)))
		return 1;
	return d;
}

static int alloc_groups(struct cpl_groups *out, int n_groups, int n_members,
                        struct cpl_error *err)
{
	out->n_groups = n_groups;
	out->start = calloc((size_t)n_groups + 1, sizeof(*out->start));
	out->member = calloc((size_t)n_members + 1, sizeof(*out->member));
	if (out->start && out->member)
		return 0;
	cpl_groups_free(out);
	return cpl_fail_memory(err);
}

void cpl_groups_free(struct cpl_groups *groups)
{
	free(groups->start);
	free(groups->member);
	memset(groups, 0, sizeof(*groups));
}

static int by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int disjoint(const uint64_t *a, const uint64_t *b)
{
	return !((a[0] & b[0]) | (a[1] & b[1]) | (a[2] & b[2]) | (a[3] & b[3]));
}

static void unite(uint64_t *a, const uint64_t *b)
{
	for (int w = 0; w < MAX_ITEMS / 64; w++)
		a[w] |= b[w];
}

/* All groups of k out of p in lexicographic order, with their weights. */
static void list_groups(const double *m, int p, int k, struct group *group)
{
	int pick[MAX_K], n = 0;

	for (int j = 0; j < k; j++)
		pick[j] = j;
	for (;;) {
		struct group *g = &group[n];
		int j = k - 1;

		memset(g, 0, sizeof(*g));
		g->index = n++;
		for (int a = 0; a < k; a++) {
			const double *row = m + (size_t)pick[a] * p;

			g->member[a] = (unsigned char)pick[a];
			g->items[pick[a] / 64] |= 1ULL << pick[a] % 64;
			for (int b = 0; b < p; b++)
				g->weight += row[b];
		}
		for (int a = 0; a < k; a++)
			for (int b = 0; b < k; b++)
				g->weight -= m[(size_t)pick[a] * p + pick[b]];
		while (j >= 0 && pick[j] == p - k + j)
			j--;
		if (j < 0)
			return;
		pick[j]++;
		for (j++; j < k; j++)
			pick[j] = pick[j - 1] + 1;
	}
}

/* Heuristics 1 and 3: take every group that fits, in the order given. */
static double choose_greedy(const struct group *group, const int *order, int n,
                            int want, int *chosen)
{
	uint64_t used[MAX_ITEMS / 64] = {0};
	double total = 0;
	int taken = 0;

	for (int i = 0; i < n && taken < want; i++) {
		const struct group *g = &group[order[i]];

		if (!disjoint(used, g->items))
			continue;
		unite(used, g->items);
		chosen[taken++] = order[i];
		total += g->weight;
	}
	return total;
}

struct cover {
	const struct group *group;
	const int *first; /* [p + 1] into of_item: groups by smallest member */
	const int *of_item;
	int p, want, bound;
	long steps;
	int *chosen;
};

static int lowest_free(const uint64_t *used, int p)
{
	for (int i = 0; i < p; i++)
		if (!(used[i / 64] >> i % 64 & 1))
			return i;
	return -1;
}

/* Complete a cover out of groups below the bound; 1 found, 0 none. */
static int extend_cover(struct cover *c, const uint64_t *used, int taken)
{
	int item = lowest_free(used, c->p);

	if (item < 0)
		return 1;
	/* The lowest free item is its group's smallest member. */
	for (int i = c->first[item]; i < c->first[item + 1]; i++) {
		int g = c->of_item[i];
		uint64_t next[MAX_ITEMS / 64];

		if (g > c->bound)
			break;
		if (--c->steps < 0)
			return 0;
		if (!disjoint(used, c->group[g].items))
			continue;
		memcpy(next, used, sizeof(next));
		unite(next, c->group[g].items);
		c->chosen[taken] = g;
		if (extend_cover(c, next, taken + 1))
			return 1;
	}
	return 0;
}

/*
 * Heuristic 2: the cover whose last group in weight order comes earliest.
 * Raising the bound by one, the group at the bound must be part of it.
 */
static double choose_low_bound(struct cover *c, int highest)
{
	double total = 0;

	for (int b = c->want - 1; b < highest && c->steps > 0; b++) {
		c->bound = b;
		c->chosen[0] = b;
		if (!extend_cover(c, c->group[b].items, 1))
			continue;
		for (int i = 0; i < c->want; i++)
			total += c->group[c->chosen[i]].weight;
		return total;
	}
	return -1;
}

static int by_degree(const void *a, const void *b, void *arg)
{
	const struct group *group = arg;
	int x = *(const int *)a, y = *(const int *)b;
	double dx = group[x].degree, dy = group[y].degree;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return (group[x].index > group[y].index) -
	       (group[x].index < group[y].index);
}

/* Mean weight of the incompatible groups over the own weight. */
static void weigh_degrees(struct group *group, int n)
{
	for (int i = 0; i < n; i++) {
		double sum = 0;
		int neighbours = 0;

		for (int j = 0; j < n; j++)
			if (j != i &&
			    !disjoint(group[i].items, group[j].items)) {
				sum += group[j].weight;
				neighbours++;
			}
		if (group[i].weight <= 0)
			group[i].degree = (double)INT_MAX * INT_MAX;
		else
			group[i].degree =
			        neighbours ? sum / neighbours / group[i].weight
			                   : 0;
	}
}

static int by_smallest(const void *a, const void *b, void *arg)
{
	const struct group *group = arg;

	return group[*(const int *)a].member[0] -
	       group[*(const int *)b].member[0];
}

static int group_exhaustive(const struct cpl_comm *graph, int p, int k,
                            struct cpl_groups *out, struct cpl_error *err)
{
	int n = (int)cpl_binomial(p, k), want = p / k, highest = 0, rc = -1;
	struct group *group = calloc((size_t)n, sizeof(*group));
	double *m = calloc((size_t)p * p, sizeof(*m));
	int *order = calloc((size_t)n, sizeof(*order));
	int *first = calloc((size_t)p + 2, sizeof(*first));
	int *of_item = calloc((size_t)n, sizeof(*of_item));
	int *best = calloc((size_t)want, sizeof(*best));
	int *other = calloc((size_t)want, sizeof(*other));
	struct cover cover = {.p = p, .want = want, .steps = MAX_COVER_STEPS};
	double least, total;

	if (!group || !m || !order || !first || !of_item || !best || !other) {
		cpl_fail_memory(err);
		goto done;
	}
	for (int i = 0; i < graph->ranks; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			m[(size_t)i * p + graph->to[e]] = graph->bytes[e];
	list_groups(m, p, k, group);
	qsort(group, (size_t)n, sizeof(*group), by_weight);
	for (int i = 0; i < n; i++) {
		order[i] = i;
		first[group[i].member[0] + 1]++;
	}
	least = choose_greedy(group, order, n, want, best);
	for (int i = 0; i < want; i++)
		if (best[i] > highest)
			highest = best[i];

	for (int i = 0; i < p; i++)
		first[i + 1] += first[i];
	for (int i = 0; i < n; i++)
		of_item[first[group[i].member[0]]++] = i;
	memmove(first + 1, first, (size_t)p * sizeof(*first));
	first[0] = 0;
	cover.group = group;
	cover.first = first;
	cover.of_item = of_item;
	cover.chosen = other;
	total = choose_low_bound(&cover, highest);
	if (total >= 0 && total < least) {
		least = total;
		memcpy(best, other, (size_t)want * sizeof(*best));
	}

	if (n <= MAX_GROUPS_DEGREE) {
		weigh_degrees(group, n);
		qsort_r(order, (size_t)n, sizeof(*order), by_degree, group);
		total = choose_greedy(group, order, n, want, other);
		if (total < least)
			memcpy(best, other, (size_t)want * sizeof(*best));
	}

	if (alloc_groups(out, want, p, err) < 0)
		goto done;
	qsort_r(best, (size_t)want, sizeof(*best), by_smallest, group);
	for (int i = 0; i < want; i++) {
		for (int j = 0; j < k; j++)
			out->member[i * k + j] = group[best[i]].member[j];
		out->start[i + 1] = (i + 1) * k;
	}
	rc = 0;

done:
	free(other);
	free(best);
	free(of_item);
	free(first);
	free(order);
	free(m);
	free(group);
	return rc;
}

struct edge {
	double bytes;
	int a, b;
};

static int by_bytes(const void *x, const void *y)
{
	const struct edge *e = x, *f = y;

	if (e->bytes != f->bytes)
		return e->bytes > f->bytes ? -1 : 1;
	if (e->a != f->a)
		return e->a - f->a;
	return e->b - f->b;
}

/* The free item of largest traffic to the group, ties to the lowest. */
static int best_joiner(const struct cpl_comm *graph, const int *member, int n,
                       const int *of, int p, double *affinity)
{
	int best = -1;

	memset(affinity, 0, (size_t)p * sizeof(*affinity));
	for (int j = 0; j < n; j++) {
		if (member[j] >= graph->ranks)
			continue;
		for (int64_t e = graph->row[member[j]];
		     e < graph->row[member[j] + 1]; e++)
			affinity[graph->to[e]] += graph->bytes[e];
	}
	for (int i = 0; i < p; i++)
		if (of[i] < 0 && (best < 0 || affinity[i] > affinity[best]))
			best = i;
	return best;
}

static int by_int(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) -
	       (*(const int *)a < *(const int *)b);
}

/* Groups of k each in raw[], sorted inside and by smallest member. */
static void sort_groups(const int *raw, const int *of, int p, int k,
                        struct cpl_groups *out)
{
	int n = 0;

	for (int i = 0; i < p; i++) {
		int *to = out->member + (size_t)n * k;

		if (of[i] < 0 || raw[(size_t)of[i] * k] != i)
			continue;
		memcpy(to, raw + (size_t)of[i] * k, (size_t)k * sizeof(*to));
		n++;
		out->start[n] = n * k;
	}
}

/* FastGroupProcesses without the sampled buckets, which only save sorting. */
static int group_fast(const struct cpl_comm *graph, int p, int k,
                      struct cpl_groups *out, struct cpl_error *err)
{
	int want = p / k, opened = 0, rc = -1;
	int64_t n_edges = 0;
	struct edge *edge = calloc((size_t)graph->n_entries + 1, sizeof(*edge));
	int *raw = calloc((size_t)p, sizeof(*raw));
	int *size = calloc((size_t)want, sizeof(*size));
	int *of = calloc((size_t)p, sizeof(*of));
	double *affinity = calloc((size_t)p, sizeof(*affinity));

	if (!edge || !raw || !size || !of || !affinity) {
		cpl_fail_memory(err);
		goto done;
	}
	for (int i = 0; i < p; i++)
		of[i] = -1;
	for (int i = 0; i < graph->ranks; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			if (graph->to[e] > i)
				edge[n_edges++] = (struct edge){
				        graph->bytes[e], i, graph->to[e]};
	qsort(edge, (size_t)n_edges, sizeof(*edge), by_bytes);
	for (int64_t e = 0; e < n_edges; e++) {
		int a = edge[e].a, b = edge[e].b;

		if (of[a] < 0 && of[b] < 0) {
			if (opened == want)
				continue;
			of[a] = of[b] = opened;
			raw[(size_t)opened * k] = a;
			raw[(size_t)opened * k + 1] = b;
			size[opened++] = 2;
		} else if ((of[a] < 0) != (of[b] < 0)) {
			int joiner = of[a] < 0 ? a : b;
			int g = of[a] < 0 ? of[b] : of[a];

			if (size[g] == k)
				continue;
			of[joiner] = g;
			raw[(size_t)g * k + size[g]++] = joiner;
		}
	}
	for (int g = 0; g < want; g++)
		while (size[g] < k) {
			int i = best_joiner(graph, raw + (size_t)g * k, size[g],
			                    of, p, affinity);

			of[i] = g;
			raw[(size_t)g * k + size[g]++] = i;
		}
	if (alloc_groups(out, want, p, err) < 0)
		goto done;
	for (int g = 0; g < want; g++)
		qsort(raw + (size_t)g * k, (size_t)k, sizeof(*raw), by_int);
	sort_groups(raw, of, p, k, out);
	rc = 0;

done:
	free(affinity);
	free(of);
	free(size);
	free(raw);
	free(edge);
	return rc;
}

int cpl_treematch_group(const struct cpl_comm *graph, int k,
                        struct cpl_groups *out, struct cpl_error *err)
{
	int p = (graph->ranks + k - 1) / k * k;

	memset(out, 0, sizeof(*out));
	if (k == 1 || k == p) {
		if (alloc_groups(out, p / k, p, err) < 0)
			return -1;
		for (int i = 0; i < p; i++) {
			out->member[i] = i;
			out->start[i / k + 1] = i + 1;
		}
		return 0;
	}
	if (cpl_binomial(p, k) < CPL_TREEMATCH_MAX_GROUPS)
		return group_exhaustive(graph, p, k, out, err);
	return group_fast(graph, p, k, out, err);
}
