/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/concordant.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

struct ranked_item {
	double key, other;
	int at;
};

/* This orders by key, and leaves those of one key as they came. */
static CPL_SORT_BY(by_key, struct ranked_item, CPL_UP(key), CPL_UP(at))

/* This merges two sorted runs of value[] that meet at `middle` into to[]. It
 * returns how many pairs of both have the larger value first. */
static int64_t merge(const double *value, int first, int middle, int end,
                     double *to)
{
	int64_t n = 0;

	for (int i = first, j = middle, k = first; k < end; k++) {
		if (j == end || (i < middle && value[i] <= value[j])) {
			to[k] = value[i++];
		} else {
			to[k] = value[j++];
			n += middle - i;
		}
	}
	return n;
}

/* This counts the pairs of value[n] whose larger value comes first. value[] and
 * spare[n] hold anything afterwards. */
static int64_t inversions(double *value, double *spare, int n)
{
	int64_t all = 0;

	for (int64_t width = 1; width < n; width *= 2) {
		double *swap = value;

		for (int64_t first = 0; first < n; first += 2 * width) {
			int64_t middle = first + width, end = middle + width;

			all += merge(value, (int)first,
			             (int)(middle < n ? middle : n),
			             (int)(end < n ? end : n), spare);
		}
		value = spare;
		spare = swap;
	}
	return all;
}

struct concordant_work {
	struct ranked_item *item;
	double *value, *spare;
	int n;
};

static void sort(struct concordant_work *w, const double *key,
                 const double *other)
{
	for (int i = 0; i < w->n; i++)
		w->item[i] = (struct ranked_item){key[i], other[i], i};
	qsort(w->item, (size_t)w->n, sizeof(*w->item), by_key);
	for (int i = 0; i < w->n; i++)
		w->value[i] = w->item[i].other;
}

/* This counts the pairs that a and b order differently. In the order of a, b falls;
 * or a falls with the index where b stays the same. */
static int64_t count_different(struct concordant_work *w, const double *a,
                               const double *b)
{
	int64_t different;

	sort(w, a, b);
	different = inversions(w->value, w->spare, w->n);
	sort(w, b, a);
	for (int first = 0, end; first < w->n; first = end) {
		for (end = first + 1; end < w->n && w->item[end].key ==
		                                            w->item[first].key;)
			end++;
		different += inversions(w->value + first, w->spare, end - first);
	}
	return different;
}

int cpl_concordant(const double *a, const double *b, int n, double *part,
                   struct cpl_error *err)
{
	int64_t pairs = (int64_t)n * (n - 1) / 2;
	size_t room = (size_t)n + 1;
	struct concordant_work w = {.item = malloc(room * sizeof(*w.item)),
	                            .value = malloc(room * sizeof(*w.value)),
	                            .spare = malloc(room * sizeof(*w.spare)),
	                            .n = n};
	int rc = w.item && w.value && w.spare ? 0 : cpl_fail_memory(err);

	*part = 1;
	if (!rc && pairs)
		*part = (double)(pairs - count_different(&w, a, b)) /
		        (double)pairs;
	cpl_free_all(w.item, w.value, w.spare);
	return rc;
}
