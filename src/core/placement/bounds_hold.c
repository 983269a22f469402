/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is a set of nodes within the bounds of a job? Only what each unit has of it counts,
 * and for a row where it stands. */
#include <limits.h>

#include "placement/bounds.h"

/* Counts by unit; false: a node has none, or they are in several domains and may not
 * be. */
static bool count_units(const struct cpl_bounds *b, const int *node, int n,
                        int *count)
{
	bool one = b->together || !b->segment;

	for (int u = 0; u < b->n_units; u++)
		count[u] = 0;
	for (int i = 0; i < n; i++) {
		if (b->unit[node[i]] < 0 ||
		    (one && b->domain[b->unit[node[i]]] !=
		                    b->domain[b->unit[node[0]]]))
			return false;
		count[b->unit[node[i]]]++;
	}
	return true;
}

static bool is_row(const struct cpl_bounds *b, const int *node, int n)
{
	int low = INT_MAX, high = INT_MIN;

	for (int i = 0; i < n; i++) {
		int place = b->place[node[i]];

		if (b->unit[node[i]] < 0)
			return false;
		low = place < low ? place : low;
		high = place > high ? place : high;
	}
	return high - low == n - 1;
}

bool cpl_bounds_take(const struct cpl_bounds *b, int *count, int n)
{
	int units = b->most ? b->most : b->n_units, domain = -1;

	for (; n > 0 && units > 0; units--) {
		int best = -1;

		for (int u = 0; u < b->n_units; u++)
			if (count[u] && (domain < 0 || b->domain[u] == domain) &&
			    (best < 0 || count[u] > count[best]))
				best = u;
		if (best < 0 || (b->apart && count[best] > n))
			return false;
		domain = b->domain[best];
		n -= count[best];
		count[best] = n < 0 ? -n : 0;
	}
	return n <= 0;
}

bool cpl_bounds_hold(const struct cpl_bounds *b, const int *node, int n, int *count)
{
	int segment = b->segment ? b->segment : n;

	if (b->in_a_row)
		return is_row(b, node, n);
	if (n % segment || !count_units(b, node, n, count))
		return false;
	for (int left = n; left > 0; left -= segment)
		if (!cpl_bounds_take(b, count, segment))
			return false;
	return true;
}
