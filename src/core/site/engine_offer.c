/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which hosts a decision has to choose from. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "site/engine_deciding.h"

/* Hosts of lower ranks do not hold the job alone: it has them and others. */
static bool filled_first(const struct deciding *d, int host)
{
	return d->n_levels > 1 && d->rank[host] < d->highest &&
	       engine_offers(d, host);
}

/* A host that the job may have. */
struct offered {
	uint32_t cpus; /* that it can use */
	int host;
};

static CPL_SORT_BY(largest_first, struct offered, CPL_DOWN(cpus), CPL_UP(host))

/* All that are offered but the n of host[], largest first; returns how many. */
static int list_others(const struct deciding *d, const int *host, int n,
                       struct offered *other)
{
	int n_others = 0;

	for (int i = d->span.first; i < d->span.end; i++)
		other[i] = (struct offered){
		        cpl_size_usable(&d->req->need, d->offer[i]),
		        engine_offers(d, i) ? i : -1};
	for (int i = 0; i < n; i++)
		other[host[i]].host = -1;
	for (int i = d->span.first; i < d->span.end; i++)
		if (other[i].host >= 0)
			other[n_others++] = other[i];
	qsort(other, (size_t)n_others, sizeof(*other), largest_first);
	return n_others;
}

/* The largest after those n, which hold so many CPUs, until any will do. */
static int add_largest(const struct deciding *d, int *host, int n,
                       uint64_t held)
{
	size_t size = (size_t)d->req->n_hosts + 1;
	struct offered *other = malloc(size * sizeof(*other));
	int left = (int)d->size.nodes - n, n_others, added = 0;

	if (!other)
		return -1;
	n_others = list_others(d, host, n, other);
	for (int i = n_others - left; i < n_others && i >= 0; i++)
		held += other[i].cpus;
	/* Each more is in the place of the largest of the smallest. */
	for (; added < left && left <= n_others && held < d->req->need.cpus;
	     added++) {
		held += other[added].cpus;
		held -= other[n_others - left + added].cpus;
		host[n + added] = other[added].host;
	}
	free(other);
	return n + added;
}

int engine_must_have(const struct deciding *d, int *host)
{
	const struct cpl_engine_request *req = d->req;
	uint32_t each = cpl_size_usable(&req->need, d->size.cpus);
	uint64_t held = 0;
	int n = 0;

	for (int i = d->span.first; d->n_levels > 1 && i < d->span.end; i++)
		if (filled_first(d, i))
			host[n++] = i;
	if (n > (int)d->size.nodes)
		n = 0;
	for (int i = 0; i < req->n_required; i++)
		if (!n || !filled_first(d, req->required[i]))
			host[n++] = req->required[i];
	for (int i = 0; i < n; i++)
		held += cpl_size_usable(&req->need, d->offer[host[i]]);
	if (req->need.overcommit || n >= (int)d->size.nodes ||
	    held + (d->size.nodes - (uint32_t)n) * (uint64_t)each >=
	            req->need.cpus)
		return n;
	return add_largest(d, host, n, held);
}

/* Could the required hosts, which may have less than their share, hold the job with
 * the largest of the others? Not surely: it is a search that is spared. */
static bool may_hold(const struct deciding *d)
{
	const struct cpl_engine_request *req = d->req;
	uint64_t held = 0, largest = 0;

	for (int i = d->span.first; i < d->span.end; i++)
		if (d->required[i])
			held += d->offer[i];
		else if (largest < d->offer[i])
			largest = d->offer[i];
	return req->need.overcommit || req->n_required >= (int)d->size.nodes ||
	       held + (d->size.nodes - (uint32_t)req->n_required) * largest >=
	               req->need.cpus;
}

/* Nodes that the job would get of these. -1: memory. */
static int fit(struct deciding *d, const uint32_t *cpus, uint32_t least)
{
	int rc = cpl_size(&d->req->need, cpus + d->span.first,
	                  d->span.end - d->span.first, least, &d->size);

	d->offer = cpus;
	d->enough = d->fits = rc > 0;
	for (int i = 0; i < d->req->n_required && d->fits; i++)
		d->fits = engine_offers(d, d->req->required[i]);
	if (d->req->n_required && d->fits)
		d->fits = may_hold(d);
	return rc < 0 ? -1 : 0;
}

static int fit_up_to(struct deciding *d, uint64_t rank, uint32_t least)
{
	d->highest = rank;
	for (int i = d->span.first; i < d->span.end; i++)
		d->filled[i] = d->rank[i] <= rank ? d->cpus[i] : 0;
	return fit(d, d->filled, least);
}

/* On the lowest ranks that hold the job. */
static int size_up(struct deciding *d, uint32_t least)
{
	int low = 0, high = d->n_levels - 1;

	if (d->n_levels < 2)
		return fit(d, d->cpus, least);
	while (low < high) {
		int middle = (low + high) / 2;

		if (fit_up_to(d, d->level[middle], least))
			return -1;
		if (d->fits)
			high = middle;
		else
			low = middle + 1;
	}
	return fit_up_to(d, d->level[low], least);
}

/* Have all usable hosts, but the user's own, the same rank, *rank? Most sites have one
 * weight. False where there is none. */
static bool one_rank(const struct deciding *d, uint64_t *rank)
{
	bool any = false;

	for (int i = d->span.first; i < d->span.end; i++) {
		if (!d->cpus[i] || d->required[i])
			continue;
		if (any && d->rank[i] != *rank)
			return false;
		*rank = d->rank[i];
		any = true;
	}
	return any;
}

/* The ranks of usable hosts, each once; the user's own come with any. -1: memory. */
static int list_levels(struct deciding *d)
{
	size_t size = (size_t)d->req->n_hosts + 1;
	uint64_t only;
	int n = 0;

	if (one_rank(d, &only)) {
		d->n_levels = 1;
		return 0;
	}
	d->filled = calloc(size, sizeof(*d->filled));
	d->level = malloc(size * sizeof(*d->level));
	if (!d->filled || !d->level)
		return -1;
	for (int i = d->span.first; i < d->span.end; i++)
		if (d->cpus[i] && !d->required[i])
			d->level[n++] = d->rank[i];
	qsort(d->level, (size_t)n, sizeof(*d->level), cpl_by_uint64);
	for (int i = 0; i < n; i++)
		if (!i || d->level[i] != d->level[i - 1])
			d->level[d->n_levels++] = d->level[i];
	for (int i = d->span.first; i < d->span.end && n; i++)
		if (d->required[i])
			d->rank[i] = d->level[0];
	return 0;
}

int engine_measure(struct deciding *d)
{
	size_t n = (size_t)d->req->n_hosts + 1;

	d->span.end = d->req->n_hosts;
	d->required = calloc(n, 1);
	d->cpus = calloc(n, sizeof(*d->cpus));
	d->rank = calloc(n, sizeof(*d->rank));
	if (!d->required || !d->cpus || !d->rank ||
	    d->scheduler->measure(d->scheduler->arg, d->cpus, d->rank, &d->span))
		return -1;
	for (int i = d->span.first; i < d->span.end; i++)
		if (d->desk->host_node[i] < 0)
			d->cpus[i] = 0;
	for (int i = 0; i < d->req->n_required; i++)
		d->required[d->req->required[i]] = 1;
	/* Nodes in a row are taken whatever their ranks. */
	if ((!d->req->rules || !strstr(d->req->rules, "contiguous")) &&
	    list_levels(d))
		return -1;
	return size_up(d, 0);
}

bool engine_try_others(struct deciding *d)
{
	uint32_t nodes = d->size.nodes;
	int lost = 0, n = d->req->n_hosts;
	uint32_t *before;

	if (d->n_levels > 1 && d->highest < d->level[d->n_levels - 1]) {
		d->n_levels = 0;
		return !size_up(d, 0) && d->fits;
	}
	before = malloc(((size_t)n + 1) * sizeof(*before));
	if (!before)
		return false;
	memcpy(before, d->cpus, (size_t)n * sizeof(*before));
	d->scheduler->narrow(d->scheduler->arg, d->cpus);
	for (int i = 0; i < n; i++)
		lost += before[i] && !d->cpus[i];
	free(before);
	if (!lost && !cpl_size_by_cpus(&d->req->need))
		return false;
	return !size_up(d, lost ? 0 : nodes + 1) && d->fits;
}
