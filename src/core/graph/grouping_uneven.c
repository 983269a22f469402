/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/grouping.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "graph/arena.h"

/* try_all recurses once per member and keeps a table of items by types, and one
 * of all pairs of items that have traffic. */
#define MAX_TRIED_SIZE 256
#define MAX_TRIED_TABLE (1 << 20)
#define MAX_TRIED_PAIRS 512

struct uneven_search {
	const struct cpl_comm *graph;
	const int *type;
	int n_items, n_types, size;
	unsigned char *used;   /* [n_items] in a finished group */
	unsigned char *inside; /* [n_items] in the group being tried */
	int *missing;          /* [n_types] still to take */
	int *left;             /* [(n_items + 1) * n_types] unused from here */
	int *pick, *best;      /* [size] */
	double best_score;
	double *affinity; /* [n_items] */
	double *pair;     /* [ranks * ranks] 4 * traffic, see added_score */
	double *all;      /* [ranks] traffic with all others */
};

static void sum_pairs(struct uneven_search *s)
{
	const struct cpl_comm *graph = s->graph;
	size_t n = (size_t)graph->ranks;

	for (int i = 0; i < graph->ranks; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++) {
			s->all[i] += graph->bytes[e];
			if (s->pair)
				s->pair[(size_t)i * n + graph->to[e]] =
				        4 * graph->bytes[e];
		}
}

/*
 * What an item adds to the score of those picked before it, which is traffic
 * inside less traffic outside, both ways. Inside counts once and is not
 * outside, so that each pair stands for four times one way's.
 */
static double added_score(const struct uneven_search *s, int item, int taken)
{
	int ranks = s->graph->ranks;
	double in = 0;

	if (item >= ranks)
		return 0;
	for (int i = 0; i < taken; i++)
		if (s->pick[i] < ranks)
			in += s->pair[(size_t)item * ranks + s->pick[i]];
	return in - s->all[item];
}

static int feasible(const struct uneven_search *s, int from)
{
	const int *left = s->left + (size_t)from * s->n_types;

	for (int t = 0; t < s->n_types; t++)
		if (s->missing[t] > left[t])
			return 0;
	return 1;
}

static void count_left(struct uneven_search *s)
{
	int n = s->n_types;

	memset(s->left + (size_t)s->n_items * n, 0, (size_t)n * sizeof(int));
	for (int i = s->n_items - 1; i >= 0; i--) {
		memcpy(s->left + (size_t)i * n, s->left + (size_t)(i + 1) * n,
		       (size_t)n * sizeof(int));
		s->left[(size_t)i * n + s->type[i]] += !s->used[i];
	}
}

static void try_all(struct uneven_search *s, int from, int taken, double score)
{
	if (taken == s->size) {
		if (score > s->best_score) {
			s->best_score = score;
			memcpy(s->best, s->pick,
			       (size_t)s->size * sizeof(*s->best));
		}
		return;
	}
	for (int i = from; i < s->n_items; i++) {
		int t = s->type[i];

		if (!feasible(s, i))
			return;
		if (s->used[i] || s->missing[t] == 0)
			continue;
		s->missing[t]--;
		s->pick[taken] = i;
		try_all(s, i + 1, taken + 1, score + added_score(s, i, taken));
		s->missing[t]++;
		/* Artificial items of a type are alike: only the first ones
		 * need to be tried. */
		while (i >= s->graph->ranks && i + 1 < s->n_items &&
		       s->type[i + 1] == t)
			i++;
	}
}

static void grow(struct uneven_search *s)
{
	memset(s->affinity, 0, (size_t)s->n_items * sizeof(*s->affinity));
	for (int taken = 0; taken < s->size; taken++) {
		int best = -1;
		double most = -DBL_MAX;

		for (int i = 0; i < s->n_items; i++) {
			double value = s->affinity[i];

			if (s->used[i] || s->inside[i] ||
			    s->missing[s->type[i]] == 0)
				continue;
			/* The heaviest item starts the group. */
			if (taken == 0 && i < s->graph->ranks)
				for (int64_t e = s->graph->row[i];
				     e < s->graph->row[i + 1]; e++)
					if (!s->used[s->graph->to[e]])
						value += s->graph->bytes[e];
			if (value > most) {
				most = value;
				best = i;
			}
		}
		s->inside[best] = 1;
		s->missing[s->type[best]]--;
		s->pick[taken] = best;
		for (int64_t e = best < s->graph->ranks ? s->graph->row[best]
		                                        : 0;
		     best < s->graph->ranks && e < s->graph->row[best + 1]; e++)
			s->affinity[s->graph->to[e]] += s->graph->bytes[e];
	}
	memcpy(s->best, s->pick, (size_t)s->size * sizeof(*s->best));
	for (int i = 0; i < s->size; i++)
		s->inside[s->pick[i]] = 0;
}

/* Number of distinct groups that try_all looks at. */
static double count_choices(const struct uneven_search *s)
{
	double product = 1;

	for (int t = 0; t < s->n_types; t++) {
		int real = 0, pads = 0;
		double sum = 0;

		for (int i = 0; i < s->n_items; i++) {
			if (s->used[i] || s->type[i] != t)
				continue;
			if (i < s->graph->ranks)
				real++;
			else
				pads++;
		}
		for (int q = 0; q <= pads && q <= s->missing[t]; q++)
			sum += cpl_binomial(real, s->missing[t] - q);
		product *= sum;
	}
	return product;
}

int cpl_treematch_group_uneven(const struct cpl_comm *graph, int n_items,
                               const int *type, int n_types, const int *need,
                               int n_groups, bool (*expired)(void *arg),
                               void *expired_arg, struct cpl_groups *out,
                               struct cpl_error *err)
{
	int64_t left = (int64_t)(n_items + 1) * n_types, ranks = graph->ranks;
	struct cpl_arena arena = {0};
	unsigned char *done = cpl_arena_take(&arena, n_groups, 1);
	struct uneven_search s = {
	        .graph = graph,
	        .type = type,
	        .n_items = n_items,
	        .n_types = n_types,
	        .used = cpl_arena_take(&arena, n_items, 1),
	        .inside = cpl_arena_take(&arena, n_items, 1),
	        .missing = cpl_arena_take(&arena, n_types, sizeof(int)),
	        .pick = cpl_arena_take(&arena, n_items, sizeof(int)),
	        .affinity = cpl_arena_take(&arena, n_items, sizeof(double)),
	        .all = cpl_arena_take(&arena, ranks, sizeof(double)),
	};
	int rc = -1;

	if (left <= MAX_TRIED_TABLE)
		s.left = cpl_arena_take(&arena, left, sizeof(int));
	if (ranks <= MAX_TRIED_PAIRS)
		s.pair = cpl_arena_take(&arena, ranks * ranks, sizeof(double));
	memset(out, 0, sizeof(*out));
	if (arena.failed || cpl_groups_alloc(out, n_groups, n_items, err))
		goto done;
	sum_pairs(&s);
	for (int g = 0; g < n_groups; g++) {
		out->start[g + 1] = out->start[g];
		for (int t = 0; t < n_types; t++)
			out->start[g + 1] += need[g * n_types + t];
	}
	for (int round = 0; round < n_groups; round++) {
		int g = -1;

		if (expired && expired(expired_arg)) {
			cpl_groups_free(out);
			rc = 1;
			goto done;
		}
		for (int i = 0; i < n_groups; i++) {
			int size = out->start[i + 1] - out->start[i];

			if (!done[i] && (g < 0 || size > s.size)) {
				g = i;
				s.size = size;
			}
		}
		done[g] = 1;
		memcpy(s.missing, need + (size_t)g * n_types,
		       (size_t)n_types * sizeof(*s.missing));
		s.best = out->member + out->start[g];
		s.best_score = -DBL_MAX;
		if (s.left && (s.pair || s.size == 1) &&
		    s.size <= MAX_TRIED_SIZE &&
		    count_choices(&s) < CPL_TREEMATCH_MAX_GROUPS) {
			count_left(&s);
			try_all(&s, 0, 0, 0);
		} else {
			grow(&s);
		}
		qsort(s.best, (size_t)s.size, sizeof(*s.best), cpl_by_int);
		for (int i = 0; i < s.size; i++)
			s.used[s.best[i]] = 1;
	}
	rc = 0;
done:
	return cpl_arena_end(&arena, rc, err);
}
