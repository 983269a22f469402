/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/grid_lengths.h"

#include <stdlib.h>

#include "base/bisect.h"

int grid_lengths_init(struct grid_lengths *l, int ranks)
{
	int low = 0, high = 0;

	*l = (struct grid_lengths){.ranks = ranks};
	for (int d = 1; (long long)d * d <= ranks; d++)
		if (ranks % d == 0)
			l->n_divisors += d * d == ranks ? 1 : 2;
	l->divisor = malloc(((size_t)l->n_divisors + 1) * sizeof(*l->divisor));
	if (!l->divisor)
		return -1;
	high = l->n_divisors;
	for (int d = 1; low < high; d++) {
		if (ranks % d)
			continue;
		l->divisor[low++] = d;
		if (low <= high - 1)
			l->divisor[--high] = ranks / d;
	}
	return 0;
}

void grid_lengths_free(struct grid_lengths *l)
{
	free(l->divisor);
	l->divisor = NULL;
}

/* This returns the largest divisor of `of` below `than`, or 1 if there is no
 * other. */
static int divisor_below(const struct grid_lengths *l, int of, int than)
{
	int low = 0, high = l->n_divisors;

	CPL_BISECT(low, high, middle, l->divisor[middle] < than);
	while (low > 0 && of % l->divisor[low - 1])
		low--;
	return low > 0 ? l->divisor[low - 1] : 1;
}

/* The axes step like an odometer whose last axis follows from the others. */
static bool step(struct grid_lengths *l)
{
	int *length = l->length, last = l->n_axes - 1, rest = l->ranks;

	for (int a = 0; a < last; a++)
		rest /= length[a];
	for (int a = last - 1; a >= 0; a--) {
		rest *= length[a];
		length[a] = divisor_below(l, rest, length[a]);
		if (length[a] < 2)
			continue;
		rest /= length[a];
		/* The axes behind it begin anew with their largest lengths. */
		for (int b = a + 1; b < last; b++) {
			length[b] = rest;
			rest = 1;
		}
		length[last] = rest;
		return true;
	}
	return false;
}

static bool are_allowed(const struct grid_lengths *l)
{
	for (int a = 0; a < l->n_axes && l->n_axes > 1; a++)
		if (l->length[a] < l->least)
			return false;
	return true;
}

bool grid_lengths_next(struct grid_lengths *l)
{
	bool more;

	do
		more = step(l);
	while (more && !are_allowed(l));
	return more;
}

bool grid_lengths_first(struct grid_lengths *l, int n_axes, int least)
{
	l->n_axes = n_axes;
	l->least = least;
	for (int a = 0; a < RESCALE_DIMS; a++)
		l->length[a] = a ? 1 : l->ranks;
	return are_allowed(l) || grid_lengths_next(l);
}

double grid_lengths_count(struct grid_lengths *l, int n_axes, double most)
{
	double n = 0;
	bool more = grid_lengths_first(l, n_axes, 2);

	for (; more && n < most; more = grid_lengths_next(l))
		n++;
	return n;
}
