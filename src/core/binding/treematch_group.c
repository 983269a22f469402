/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "binding/binding_internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Exhaustive grouping below CPL_TREEMATCH_MAX_GROUPS with 2 <= k < p means at
 * most 245 items (k = 2) and groups of at most 8 (p = 16). */
#define MAX_ITEMS 256
#define MAX_K 8
/* The third heuristic compares all pairs of groups, but for k = 2. */
#define MAX_GROUPS_DEGREE 600
#define MAX_PAIRS_DEGREE 3000
#define MAX_COVER_STEPS 20000

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

static double log_binomial(int n, int k)
{
	return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

int cpl_treematch_divide(int p, int k)
{
	int d = k / 2;
	double whole, parts;

	while (d > 1 && k % d)
		d--;
	if (d <= 1 || p < k)
		return 1;
	whole = cpl_binomial(p, k);
	parts = d * cpl_binomial(p, k / d);
	if (isinf(whole) && isinf(parts))
		return log_binomial(p, k) > log(d) + log_binomial(p, k / d) ? d
		                                                            : 1;
	return whole > parts ? d : 1;
}

int cpl_groups_alloc(struct cpl_groups *out, int n_groups, int n_members,
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

struct key {
	double value;
	int index;
};

static int by_value(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
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
static void list_groups(const double *m, const double *row_sum, int p, int k,
                        struct group *group)
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
			g->member[a] = (unsigned char)pick[a];
			g->items[pick[a] / 64] |= 1ULL << pick[a] % 64;
			g->weight += row_sum[pick[a]];
		}
		for (int a = 0; a < k; a++)
			for (int b = 0; b < a; b++)
				g->weight -=
				        2 * m[(size_t)pick[a] * p + pick[b]];
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

/*
 * Mean weight of the incompatible groups over the own weight; the total of
 * those of a pair is that of its members' groups.
 */
static int weigh_pairs(struct group *group, int n, int p)
{
	double *sum = calloc((size_t)p, sizeof(*sum));

	if (!sum)
		return -1;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < 2; j++)
			sum[group[i].member[j]] += group[i].weight;
	for (int i = 0; i < n; i++) {
		struct group *g = &group[i];
		double near =
		        sum[g->member[0]] + sum[g->member[1]] - 2 * g->weight;

		if (g->weight <= 0)
			g->degree = (double)INT_MAX * INT_MAX;
		else
			g->degree = near / (2.0 * p - 4) / g->weight;
	}
	free(sum);
	return 0;
}

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

/* The groups in the order of their keys. */
static void sort_by_key(struct key *key, int n, int *order)
{
	qsort(key, (size_t)n, sizeof(*key), by_value);
	for (int i = 0; i < n; i++)
		order[i] = key[i].index;
}

static int third_heuristic(struct group *group, int n, int p, int k, int want,
                           struct key *key, int *order, int *other,
                           double *total)
{
	if (k == 2 ? n > MAX_PAIRS_DEGREE : n > MAX_GROUPS_DEGREE)
		return 0;
	if (k > 2)
		weigh_degrees(group, n);
	else if (weigh_pairs(group, n, p) < 0)
		return -1;
	for (int i = 0; i < n; i++)
		key[i] = (struct key){-group[i].degree, i};
	sort_by_key(key, n, order);
	*total = choose_greedy(group, order, n, want, other);
	return 1;
}

static void fill_matrix(const struct cpl_comm *graph, int p, double *m,
                        double *row_sum)
{
	for (int i = 0; i < graph->ranks; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++) {
			m[(size_t)i * p + graph->to[e]] = graph->bytes[e];
			row_sum[i] += graph->bytes[e];
		}
}

static int group_exhaustive(const struct cpl_comm *graph, int p, int k,
                            struct cpl_groups *out, struct cpl_error *err)
{
	int n = (int)cpl_binomial(p, k), want = p / k, rc = -1, third;
	int highest = 0; /* last place in weight order that is taken */
	struct group *listed = malloc((size_t)n * sizeof(*listed));
	struct group *group = malloc((size_t)n * sizeof(*group));
	struct key *key = malloc((size_t)n * sizeof(*key));
	double *m = calloc((size_t)p * (p + 1), sizeof(*m));
	int *order = malloc((size_t)n * sizeof(*order));
	int *first = calloc((size_t)p + 2, sizeof(*first));
	int *of_item = malloc((size_t)n * sizeof(*of_item));
	int *best = malloc((size_t)want * sizeof(*best));
	int *other = malloc((size_t)want * sizeof(*other));
	struct cover cover = {.p = p, .want = want, .steps = MAX_COVER_STEPS};
	double least, total;

	if (!listed || !group || !key || !m || !order || !first || !of_item ||
	    !best || !other) {
		cpl_fail_memory(err);
		goto done;
	}
	fill_matrix(graph, p, m, m + (size_t)p * p);
	list_groups(m, m + (size_t)p * p, p, k, listed);
	for (int i = 0; i < n; i++)
		key[i] = (struct key){listed[i].weight, i};
	sort_by_key(key, n, order);
	for (int i = 0; i < n; i++) {
		group[i] = listed[order[i]];
		first[group[i].member[0] + 1]++;
		order[i] = i;
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

	third = third_heuristic(group, n, p, k, want, key, order, other,
	                        &total);
	if (third < 0) {
		cpl_fail_memory(err);
		goto done;
	}
	if (third && total < least)
		memcpy(best, other, (size_t)want * sizeof(*best));

	if (cpl_groups_alloc(out, want, p, err) < 0)
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
	free(key);
	free(group);
	free(listed);
	return rc;
}

int cpl_treematch_group(const struct cpl_comm *graph, int k,
                        struct cpl_groups *out, struct cpl_error *err)
{
	int p = (graph->ranks + k - 1) / k * k;

	memset(out, 0, sizeof(*out));
	if (k == 1 || k == p) {
		if (cpl_groups_alloc(out, p / k, p, err) < 0)
			return -1;
		for (int i = 0; i < p; i++) {
			out->member[i] = i;
			out->start[i / k + 1] = i + 1;
		}
		return 0;
	}
	if (cpl_binomial(p, k) < CPL_TREEMATCH_MAX_GROUPS)
		return group_exhaustive(graph, p, k, out, err);
	return cpl_treematch_group_fast(graph, p, k, out, err);
}
