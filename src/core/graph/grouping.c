/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "graph/grouping.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "graph/arena.h"

/* Exhaustive grouping below CPL_TREEMATCH_MAX_GROUPS with 2 <= k < p means at
 * most 245 items (k = 2) and groups of at most 8 (p = 16). */
#define MAX_ITEMS 256
#define MAX_K 8
/* The third heuristic compares all pairs of groups, but for k = 2. */
#define MAX_GROUPS_DEGREE 600
#define MAX_PAIRS_DEGREE 3000
#define MAX_COVER_STEPS 20000

struct group {
	double weight; /* traffic that leaves the group, both ways */
	unsigned char member[MAX_K];
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

/* C(p, k) > d * C(p, k / d), where both are beyond a double. */
static bool more_groups(int p, int k, int d)
{
	double ratio = 1;
	int scale = 0;

	for (int i = k / d + 1; i <= k; i++) {
		int exponent;

		ratio = frexp(ratio * (p - i + 1) / i, &exponent);
		scale += exponent;
	}
	/* d is an int. */
	return scale > 64 || (scale > -64 && ldexp(ratio, scale) > d);
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
		return more_groups(p, k, d) ? d : 1;
	return whole > parts ? d : 1;
}

struct group_key {
	uint64_t value;
	int index;
};

/* In the order of the values; -0 is 0. */
static uint64_t key_value(double value)
{
	const uint64_t sign = 1ULL << 63;
	uint64_t bits;

	value += 0.0;
	memcpy(&bits, &value, sizeof(bits));
	return bits & sign ? ~bits : bits | sign;
}

/*
 * Sort by value, stable: by digits of a byte, without those that all keys have
 * in common, which are many for whole numbers. `spare` is of n, too.
 */
static void sort_keys(struct group_key *key, struct group_key *spare, int n)
{
	int count[8][256] = {{0}};
	struct group_key *from = key, *to = spare;

	for (int i = 0; i < n; i++)
		for (int d = 0; d < 8; d++)
			count[d][key[i].value >> 8 * d & 255]++;
	for (int d = 0; d < 8; d++) {
		struct group_key *other = from;
		int at = 0;

		if (count[d][from[0].value >> 8 * d & 255] == n)
			continue;
		for (int v = 0; v < 256; v++) {
			int own = count[d][v];

			count[d][v] = at;
			at += own;
		}
		for (int i = 0; i < n; i++)
			to[count[d][from[i].value >> 8 * d & 255]++] = from[i];
		from = to;
		to = other;
	}
	if (from != key)
		memcpy(key, from, (size_t)n * sizeof(*key));
}

static bool fits(const unsigned char *used, const struct group *g, int k)
{
	for (int j = 0; j < k; j++)
		if (used[g->member[j]])
			return false;
	return true;
}

static void mark(unsigned char *used, const struct group *g, int k,
                 unsigned char as)
{
	for (int j = 0; j < k; j++)
		used[g->member[j]] = as;
}

/* All groups of k out of p in lexicographic order, with their weights. */
static void list_groups(const double *m, const double *row_sum, int p, int k,
                        struct group *group)
{
	double weight[MAX_K + 1] = {0}; /* of the first members */
	int pick[MAX_K];

	for (int j = 0; j < k; j++)
		pick[j] = j;
	for (int changed = 0;; group++) {
		int j = k - 1;

		for (int a = changed; a < k; a++) {
			const double *row = m + (size_t)pick[a] * p;
			double inside = 0;

			for (int b = 0; b < a; b++)
				inside += row[pick[b]];
			weight[a + 1] =
			        weight[a] + row_sum[pick[a]] - 2 * inside;
		}
		group->weight = weight[k];
		for (int a = 0; a < k; a++)
			group->member[a] = (unsigned char)pick[a];
		while (j >= 0 && pick[j] == p - k + j)
			j--;
		if (j < 0)
			return;
		changed = j;
		pick[j]++;
		for (j++; j < k; j++)
			pick[j] = pick[j - 1] + 1;
	}
}

/* What the heuristics choose from. */
struct group_choice {
	struct group *group; /* [n] by weight */
	int n, p, k, want;
	int *first; /* [p + 1] into of_item: groups by smallest member */
	int *of_item;
	struct group_key *key, *spare; /* [n] */
	unsigned char used[MAX_ITEMS];
	int bound; /* last group of the search for a cover */
	long steps;
	int *best, *other; /* [want] */
};

/* Heuristics 1 and 3: take every group that fits, in the order of the keys. */
static double choose_greedy(struct group_choice *c, int *chosen)
{
	double total = 0;
	int taken = 0;

	memset(c->used, 0, sizeof(c->used));
	for (int i = 0; i < c->n && taken < c->want; i++) {
		const struct group *g = &c->group[c->key[i].index];

		if (!fits(c->used, g, c->k))
			continue;
		mark(c->used, g, c->k, 1);
		chosen[taken++] = c->key[i].index;
		total += g->weight;
	}
	return total;
}

/*
 * No choice is lighter: each item counts as in its lightest group. *last: the
 * first group by which each item has been in one.
 */
static double least_total(struct group_choice *c, int *last)
{
	double sum = 0;
	int seen = 0, i = 0;

	memset(c->used, 0, sizeof(c->used));
	for (; seen < c->p; i++)
		for (int j = 0; j < c->k; j++) {
			int item = c->group[i].member[j];

			if (c->used[item])
				continue;
			c->used[item] = 1;
			sum += c->group[i].weight;
			seen++;
		}
	*last = i - 1;
	return sum / c->k;
}

/* Complete a cover out of groups below the bound; items below `item` are in
 * it. */
static bool extend_cover(struct group_choice *c, int item, int taken)
{
	while (item < c->p && c->used[item])
		item++;
	if (item == c->p)
		return true;
	/* The lowest free item is its group's smallest member. */
	for (int i = c->first[item]; i < c->first[item + 1]; i++) {
		int g = c->of_item[i];

		if (g > c->bound || --c->steps < 0)
			break;
		if (!fits(c->used, &c->group[g], c->k))
			continue;
		mark(c->used, &c->group[g], c->k, 1);
		c->other[taken] = g;
		if (extend_cover(c, item + 1, taken + 1))
			return true;
		mark(c->used, &c->group[g], c->k, 0);
	}
	return false;
}

static void list_by_item(struct group_choice *c)
{
	for (int i = 0; i < c->n; i++)
		c->first[c->group[i].member[0] + 1]++;
	for (int i = 0; i < c->p; i++)
		c->first[i + 1] += c->first[i];
	for (int i = 0; i < c->n; i++)
		c->of_item[c->first[c->group[i].member[0]]++] = i;
	memmove(c->first + 1, c->first, (size_t)c->p * sizeof(*c->first));
	c->first[0] = 0;
}

/*
 * Heuristic 2: the cover whose last group in weight order comes earliest.
 * Raising the bound from `lowest`, the group at the bound must be part of it.
 */
static double choose_low_bound(struct group_choice *c, int lowest, int highest)
{
	double total = 0;

	c->steps = MAX_COVER_STEPS;
	for (int b = lowest; b < highest && c->steps > 0; b++) {
		c->bound = b;
		c->other[0] = b;
		memset(c->used, 0, sizeof(c->used));
		mark(c->used, &c->group[b], c->k, 1);
		if (!extend_cover(c, 0, 1))
			continue;
		for (int i = 0; i < c->want; i++)
			total += c->group[c->other[i]].weight;
		return total;
	}
	return -1;
}

/*
 * Mean weight of the incompatible groups, for all groups; that of pairs from
 * the totals of their members' groups.
 */
static void weigh_neighbours(struct group_choice *c, double *near)
{
	double sum[MAX_ITEMS] = {0};

	for (int i = 0; c->k == 2 && i < c->n; i++)
		for (int j = 0; j < 2; j++)
			sum[c->group[i].member[j]] += c->group[i].weight;
	for (int i = 0; i < c->n; i++) {
		const struct group *g = &c->group[i];
		double total = 0;
		int neighbours = 0;

		if (c->k == 2) {
			total = sum[g->member[0]] + sum[g->member[1]] -
			        2 * g->weight;
			near[i] = total / (2.0 * c->p - 4);
			continue;
		}
		memset(c->used, 0, sizeof(c->used));
		mark(c->used, g, c->k, 1);
		for (int j = 0; j < c->n; j++)
			if (j != i && !fits(c->used, &c->group[j], c->k)) {
				total += c->group[j].weight;
				neighbours++;
			}
		near[i] = neighbours ? total / neighbours : 0;
	}
}

/* Heuristic 3; the total, or -1 with too many groups for it. */
static double choose_by_degree(struct group_choice *c)
{
	double near[MAX_PAIRS_DEGREE];

	if (c->n > (c->k == 2 ? MAX_PAIRS_DEGREE : MAX_GROUPS_DEGREE))
		return -1;
	weigh_neighbours(c, near);
	for (int i = 0; i < c->n; i++) {
		double weight = c->group[i].weight;

		c->key[i] = (struct group_key){
		        key_value(weight > 0 ? -near[i] / weight : -DBL_MAX),
		        i};
	}
	sort_keys(c->key, c->spare, c->n);
	return choose_greedy(c, c->other);
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

/* The groups by weight, and the first choice among them; its total. */
static double choose_lightest(struct group_choice *c,
                              const struct group *listed)
{
	for (int i = 0; i < c->n; i++)
		c->key[i] = (struct group_key){key_value(listed[i].weight), i};
	sort_keys(c->key, c->spare, c->n);
	for (int i = 0; i < c->n; i++) {
		c->group[i] = listed[c->key[i].index];
		c->key[i].index = i;
	}
	return choose_greedy(c, c->best);
}

/* Look for choices that are lighter than the first, where there can be any. */
static void choose_lighter(struct group_choice *c, double least)
{
	size_t bytes = (size_t)c->want * sizeof(*c->best);
	int highest = 0, lowest; /* last place in weight order that is taken */
	double bound = least_total(c, &lowest), total;

	if (least <= bound + 1e-12 * bound)
		return;
	for (int i = 0; i < c->want; i++)
		if (c->best[i] > highest)
			highest = c->best[i];
	list_by_item(c);
	total = choose_low_bound(c, lowest, highest);
	if (total >= 0 && total < least) {
		least = total;
		memcpy(c->best, c->other, bytes);
	}
	total = choose_by_degree(c);
	if (total >= 0 && total < least)
		memcpy(c->best, c->other, bytes);
}

static void write_groups(const struct group_choice *c, struct cpl_groups *out)
{
	int of_smallest[MAX_ITEMS], n = 0;

	for (int i = 0; i < c->p; i++)
		of_smallest[i] = -1;
	for (int i = 0; i < c->want; i++)
		of_smallest[c->group[c->best[i]].member[0]] = c->best[i];
	for (int i = 0; i < c->p; i++) {
		if (of_smallest[i] < 0)
			continue;
		for (int j = 0; j < c->k; j++)
			out->member[n * c->k + j] =
			        c->group[of_smallest[i]].member[j];
		n++;
		out->start[n] = n * c->k;
	}
}

static int group_exhaustive(const struct cpl_comm *graph, int p, int k,
                            struct cpl_groups *out, struct cpl_error *err)
{
	int n = (int)cpl_binomial(p, k), want = p / k, rc = -1;
	struct cpl_arena arena = {0};
	struct group_choice c = {
	        .n = n,
	        .p = p,
	        .k = k,
	        .want = want,
	        .group = cpl_arena_take_raw(&arena, n, sizeof(*c.group)),
	        .key = cpl_arena_take_raw(&arena, n, sizeof(*c.key)),
	        .spare = cpl_arena_take_raw(&arena, n, sizeof(*c.spare)),
	        .first = cpl_arena_take(&arena, p + 2, sizeof(int)),
	        .of_item = cpl_arena_take_raw(&arena, n, sizeof(int)),
	        .best = cpl_arena_take(&arena, want, sizeof(int)),
	        .other = cpl_arena_take(&arena, want, sizeof(int)),
	};
	struct group *listed = cpl_arena_take_raw(&arena, n, sizeof(*listed));
	double *m = cpl_arena_take(&arena, p * (p + 1), sizeof(*m));

	if (arena.failed)
		goto done;
	fill_matrix(graph, p, m, m + (size_t)p * p);
	list_groups(m, m + (size_t)p * p, p, k, listed);
	choose_lighter(&c, choose_lightest(&c, listed));
	if (cpl_groups_alloc(out, want, p, err) < 0)
		goto done;
	write_groups(&c, out);
	rc = 0;
done:
	return cpl_arena_end(&arena, rc, err);
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
