/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/size.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/sort.h"

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

static uint32_t cpus_of_task(const struct cpl_need *need)
{
	return need->cpus_per_task ? need->cpus_per_task : 1;
}

uint32_t cpl_size_least(const struct cpl_need *need)
{
	uint32_t cpus = need->node_cpus ? need->node_cpus : 1;
	uint32_t per_task = cpus_of_task(need);
	uint32_t by_tasks = need->tasks_per_node * per_task;

	if (!by_tasks && need->cpus % per_task == 0)
		by_tasks = per_task;
	return need->overcommit || cpus > by_tasks ? cpus : by_tasks;
}

uint32_t cpl_size_usable(const struct cpl_need *need, uint32_t cpus)
{
	uint32_t per_task = cpus_of_task(need);

	return need->cpus % per_task == 0 ? cpus - cpus % per_task : cpus;
}

/* CPUs that each of this many nodes has, if all have the same. */
static uint32_t cpus_needed(const struct cpl_need *need, uint32_t nodes)
{
	uint32_t per_task = cpus_of_task(need), cpus = cpl_size_least(need);
	uint32_t share = divide_up(need->cpus, nodes);

	if (need->overcommit)
		return cpus;
	if (need->cpus % per_task == 0)
		share = divide_up(share, per_task) * per_task;
	return cpus > share ? cpus : share;
}

/* How many of the increasing numbers are at least `cpus`. O(log n). */
static uint32_t hosts_with(const uint32_t *sorted, int n, uint32_t cpus)
{
	int low = 0, high = n;

	CPL_BISECT(low, high, mid, sorted[mid] < cpus);
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

/* Hosts by their CPUs, and what those up to each can be used for. */
struct hosts {
	uint32_t *sorted; /* [n] increasing */
	uint64_t *below;  /* [n + 1] usable CPUs of the first */
	int n;
};

static int sort_hosts(struct hosts *hosts, const struct cpl_need *need,
                      const uint32_t *cpus, int n)
{
	hosts->n = n;
	hosts->sorted = malloc(((size_t)n + 1) * sizeof(*hosts->sorted));
	hosts->below = malloc(((size_t)n + 1) * sizeof(*hosts->below));
	if (!hosts->sorted || !hosts->below)
		return -1;
	memcpy(hosts->sorted, cpus, (size_t)n * sizeof(*cpus));
	qsort(hosts->sorted, (size_t)n, sizeof(*cpus), cpl_by_uint32);
	hosts->below[0] = 0;
	for (int i = 0; i < n; i++)
		hosts->below[i + 1] = hosts->below[i] +
		                      cpl_size_usable(need, hosts->sorted[i]);
	return 0;
}

static bool fits(const struct cpl_need *need, const struct hosts *hosts,
                 uint32_t nodes, struct cpl_size *out)
{
	out->nodes = nodes;
	out->cpus = cpus_needed(need, nodes);
	return hosts_with(hosts->sorted, hosts->n, out->cpus) >= nodes;
}

/* Do the largest hold the job, though not each as much? Needs n >= nodes. */
static bool fits_unevenly(const struct cpl_need *need,
                          const struct hosts *hosts, uint32_t nodes,
                          struct cpl_size *out)
{
	int others = hosts->n - (int)nodes;
	uint32_t cpus = hosts->sorted[others];

	if (cpus < cpl_size_least(need) ||
	    hosts->below[hosts->n] - hosts->below[others] < need->cpus)
		return false;
	*out = (struct cpl_size){.nodes = nodes, .cpus = cpus};
	return true;
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

static bool fewest(const struct cpl_need *need, const struct hosts *hosts,
                   uint32_t first, uint32_t last, struct cpl_size *out)
{
	for (uint32_t k = first; k <= last; k++)
		if (fits(need, hosts, k, out))
			return true;
	for (uint32_t k = first; k <= last; k++)
		if (fits_unevenly(need, hosts, k, out))
			return true;
	return false;
}

static bool most(const struct cpl_need *need, const struct hosts *hosts,
                 uint32_t first, uint32_t last, struct cpl_size *out)
{
	for (uint32_t k = last; k >= first; k--)
		if (fits(need, hosts, k, out) ||
		    fits_unevenly(need, hosts, k, out))
			return true;
	return false;
}

int cpl_size(const struct cpl_need *need, const uint32_t *cpus, int n,
             uint32_t least, struct cpl_size *out)
{
	uint32_t first = need->min_nodes > least ? need->min_nodes : least;
	uint32_t last = (uint32_t)n, wanted = wanted_of(need);
	bool by_cpus = cpl_size_by_cpus(need);
	struct hosts hosts = {0};
	int found = 0;

	if (need->max_nodes && need->max_nodes < last)
		last = need->max_nodes;
	if (first < 1)
		first = 1;
	if (by_cpus ? first <= last : wanted >= first)
		found = fits_at_once(need, cpus, n, by_cpus ? first : wanted,
		                     out);
	if (found)
		return found;
	*out = (struct cpl_size){.nodes = by_cpus ? 0 : first};
	if (sort_hosts(&hosts, need, cpus, n))
		found = -1;
	else if (by_cpus)
		found = fewest(need, &hosts, first, last, out);
	else
		found = most(need, &hosts, first,
		             wanted < last ? wanted : last, out);
	free(hosts.sorted);
	free(hosts.below);
	return found;
}
