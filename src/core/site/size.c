/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/size.h"

#include <stdlib.h>
#include <string.h>

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

/* CPUs that each of this many nodes must have. */
static uint32_t cpus_needed(const struct cpl_need *need, uint32_t nodes)
{
	uint32_t per_task = need->cpus_per_task ? need->cpus_per_task : 1;
	uint32_t cpus = need->node_cpus ? need->node_cpus : 1;
	uint32_t by_tasks = need->tasks_per_node * per_task;
	uint32_t share = divide_up(need->cpus, nodes);

	if (need->overcommit)
		return cpus;
	/* Tasks are not split. */
	if (need->cpus % per_task == 0)
		share = divide_up(share, per_task) * per_task;
	cpus = cpus > by_tasks ? cpus : by_tasks;
	return cpus > share ? cpus : share;
}

static int increasing(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* How many of the increasing numbers are at least `cpus`. O(log n). */
static uint32_t hosts_with(const uint32_t *sorted, int n, uint32_t cpus)
{
	int low = 0, high = n;

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (sorted[mid] < cpus)
			low = mid + 1;
		else
			high = mid;
	}
	return (uint32_t)(n - low);
}

static uint32_t wanted_of(const struct cpl_need *need)
{
	return need->nodes ? need->nodes : need->min_nodes;
}

bool cpl_size_by_cpus(const struct cpl_need *need)
{
	uint32_t max = need->max_nodes ? need->max_nodes : UINT32_MAX;

	return max > need->min_nodes && wanted_of(need) == need->min_nodes;
}

static bool fits(const struct cpl_need *need, const uint32_t *sorted, int n,
                 uint32_t nodes, struct cpl_size *out)
{
	out->nodes = nodes;
	out->cpus = cpus_needed(need, nodes);
	return hosts_with(sorted, n, out->cpus) >= nodes;
}

/* The nodes asked for, of so many CPUs: most jobs get them. O(n). */
static bool fits_at_once(const struct cpl_need *need, const uint32_t *cpus,
                         int n, uint32_t nodes, struct cpl_size *out)
{
	uint32_t usable = 0;

	*out = (struct cpl_size){.nodes = nodes,
	                         .cpus = cpus_needed(need, nodes)};
	for (int i = 0; i < n; i++)
		usable += cpus[i] >= out->cpus;
	return usable >= nodes;
}

int cpl_size(const struct cpl_need *need, const uint32_t *cpus, int n,
             uint32_t least, struct cpl_size *out)
{
	uint32_t first = need->min_nodes > least ? need->min_nodes : least;
	bool by_cpus = cpl_size_by_cpus(need);
	uint32_t last = (uint32_t)n, most = wanted_of(need), *sorted;
	int found = 0;

	if (need->max_nodes && need->max_nodes < last)
		last = need->max_nodes;
	if (first < 1)
		first = 1;
	if (by_cpus ? first <= last : wanted_of(need) >= first)
		found = fits_at_once(need, cpus, n,
		                     by_cpus ? first : wanted_of(need), out);
	if (found)
		return found;
	*out = (struct cpl_size){.nodes = by_cpus ? 0 : first};
	sorted = malloc(((size_t)n + 1) * sizeof(*sorted));
	if (!sorted)
		return -1;
	memcpy(sorted, cpus, (size_t)n * sizeof(*sorted));
	qsort(sorted, (size_t)n, sizeof(*sorted), increasing);
	if (by_cpus)
		for (uint32_t k = first; k <= last && !found; k++)
			found = fits(need, sorted, n, k, out);
	else
		for (uint32_t k = most < last ? most : last;
		     k >= first && !found; k--)
			found = fits(need, sorted, n, k, out);
	free(sorted);
	return found;
}
