/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Of the first level from the finest on that has each unit in one of its own, and a
 * unit of so many nodes. NULL: none, the whole machine. */
static const struct cpl_level *level_around(const struct bounds *b, int n)
{
	const struct cpl_network *net = b->net;

	for (int l = net->n_levels - 1; l >= 0; l--) {
		const struct cpl_level *level = &net->level[l];
		bool around = false;

		if (level->n_units < 2 || level->n_units >= b->units.n)
			continue;
		for (int u = 0; u < level->n_units && !around; u++)
			around = level->first[u + 1] - level->first[u] >= n;
		memset(b->units.taken, 0, (size_t)b->units.n * sizeof(int));
		for (int i = 0; i < net->n_nodes && around; i++) {
			int *of = &b->units.taken[b->units.unit[i]];
			int u = 1 + cpl_level_unit(level, cpl_network_router(
			                                          net, i));

			around = !*of || *of == u;
			*of = u;
		}
		if (around)
			return level;
	}
	return NULL;
}

int bounds_open(struct bounds *out, const struct cpl_network *net,
                const char *name, int n_jobs, struct cpl_error *err)
{
	size_t n = (size_t)net->n_nodes;
	struct cpl_cut cut;
	int at = 0;

	*out = (struct bounds){.net = net};
	out->all = malloc(n);
	out->row = malloc(n * sizeof(int));
	out->of = malloc(((size_t)n_jobs + 1) * sizeof(int));
	if (!out->all || !out->row || !out->of)
		return cpl_fail_memory(err);
	for (int i = 0; i < net->n_nodes; i++) {
		out->all[i] = net->node_name[i] != NULL;
		out->row[i] = at;
		at += out->all[i];
	}
	memset(out->of, -1, ((size_t)n_jobs + 1) * sizeof(int));
	if (cpl_cut_find(net, name ? name : CPL_CUT_AUTO, &cut, err) ||
	    cpl_whole_units_open(&out->units, net, out->all, &cut, err))
		return -1;
	out->zero = calloc(n + (size_t)out->units.n, sizeof(int));
	if (!out->zero)
		return cpl_fail_memory(err);
	for (int u = 0; u < out->units.n; u++)
		if (out->units.free[u] &&
		    (!out->least || out->units.free[u] < out->least))
			out->least = out->units.free[u];
	return 0;
}

void bounds_close(struct bounds *b)
{
	for (int i = 0; i < b->n; i++)
		if (b->bound[i].bounds.domain != b->zero)
			free(b->bound[i].bounds.domain);
	cpl_free_all(b->bound, b->all, b->row, b->zero, b->of);
	cpl_whole_units_close(&b->units);
}

/* This says in which units of a level the machine's units lie. */
static int *domains_of(const struct bounds *b, const struct cpl_level *level)
{
	int *domain = calloc((size_t)b->units.n, sizeof(*domain));

	for (int i = 0; domain && i < b->net->n_nodes; i++)
		domain[b->units.unit[i]] = cpl_level_unit(
		        level, cpl_network_router(b->net, i));
	return domain;
}

/* As in Slurm a segment counts before nodes in a row, and these before switches. */
static int fill(const struct bounds *b, struct job_bound *bound)
{
	const struct cpl_asked *asked = &bound->asked;
	struct cpl_bounds *out = &bound->bounds;

	bound->bounded = true;
	*out = (struct cpl_bounds){.unit = b->units.unit,
	                           .place = b->row,
	                           .n_units = b->units.n,
	                           .n_domains = 1,
	                           .domain = b->zero};
	if (asked->segment) {
		out->segment = asked->segment;
		out->most = (asked->segment + b->least - 1) / b->least;
		out->apart = asked->spread;
	} else if (asked->contiguous) {
		out->in_a_row = true;
		out->unit = b->zero;
		out->n_units = 1;
	} else {
		out->most = asked->switches;
		bound->bounded = asked->switches > 0;
	}
	if (!bound->within)
		return 0;
	out->together = true;
	out->n_domains = bound->within->n_units;
	out->domain = domains_of(b, bound->within);
	return out->domain ? 0 : -1;
}

static bool same(const struct job_bound *a, const struct job_bound *b)
{
	return a->asked.segment == b->asked.segment &&
	       a->asked.switches == b->asked.switches &&
	       a->asked.spread == b->asked.spread &&
	       a->asked.consolidate == b->asked.consolidate &&
	       a->asked.contiguous == b->asked.contiguous &&
	       a->asked.whole == b->asked.whole && a->within == b->within;
}

/* The smallest segment so far is what nodes are to be left over by. */
static void note_segment(struct bounds *b, int segment)
{
	if (!segment || (b->smallest && segment >= b->smallest))
		return;
	b->smallest = segment;
	b->leaves = 0;
	for (int u = 0; u < b->units.n; u++)
		b->leaves += b->units.free[u] % segment;
}

int bounds_ask(struct bounds *b, int job, int n, const struct cpl_asked *asked,
               struct cpl_error *err)
{
	struct job_bound bound = {.asked = *asked};

	if (!cpl_asked_any(asked))
		return 0;
	if (asked->segment && asked->consolidate)
		bound.within = level_around(b, n);
	for (int i = 0; i < b->n; i++)
		if (same(&b->bound[i], &bound)) {
			b->of[job] = i;
			return 0;
		}
	if (cpl_array_grow(&b->bound, b->n, sizeof(bound), err))
		return -1;
	if (fill(b, &bound))
		return cpl_fail_memory(err);
	b->of[job] = b->n;
	b->bound[b->n++] = bound;
	note_segment(b, asked->segment);
	return 0;
}

bool bounds_wait(const struct bounds *b, const struct cpl_easy_job *waits, int n)
{
	for (int i = 0; i < n; i++)
		if (waits[i].job >= 0 && bound_in_segments(b, waits[i].job))
			return true;
	return false;
}

int bound_ever(const struct bounds *b, struct job_bound *bound, int n,
               struct cpl_error *err)
{
	int *node, rc;

	if (bound->asked.segment && n % bound->asked.segment)
		return 0;
	if (n <= bound->fits || (bound->fits_not && n >= bound->fits_not))
		return n <= bound->fits;
	node = malloc((size_t)n * sizeof(*node));
	if (!node)
		return cpl_fail_memory(err);
	rc = bound_find(b, bound, b->all, NULL, n, node, err);
	free(node);
	*(rc ? &bound->fits_not : &bound->fits) = n;
	return rc < 0 ? -1 : !rc;
}

int bound_narrow(const struct bounds *b, const struct job_bound *bound,
                 unsigned char *free, int *count)
{
	const int *unit = b->units.unit;
	int n_nodes = b->net->n_nodes, n = 0;

	memset(count, 0, (size_t)b->units.n * sizeof(*count));
	for (int i = 0; i < n_nodes; i++)
		count[unit[i]] += free[i];
	for (int i = 0; i < n_nodes; i++) {
		if (bound && bound->asked.whole &&
		    count[unit[i]] < b->units.free[unit[i]])
			free[i] = 0;
		n += free[i];
	}
	return n;
}

int bound_find(const struct bounds *b, const struct job_bound *bound,
               const unsigned char *free, const unsigned char *first, int n,
               int *out, struct cpl_error *err)
{
	const struct cpl_placement_request req = {
	        .net = b->net,
	        .free = free,
	        .n_nodes_wanted = n,
	        .bounds = bound ? &bound->bounds : NULL};
	int found = 0;

	for (int pass = first ? 0 : 1; pass < 2; pass++)
		for (int i = 0; i < b->net->n_nodes && found < n; i++)
			if (free[i] && (!first || first[i] == !pass))
				out[found++] = i;
	if (found < n)
		return 1;
	return bound && bound->bounded ? cpl_bounds_fit(&req, out, err) : 0;
}

int bound_crossed(const struct bounds *b, const struct job_bound *bound,
                  const int *node, int n, int *count)
{
	int groups = n / bound->asked.segment, kept = 0;
	struct cpl_bounds any = bound->bounds;

	any.apart = false;
	any.domain = b->zero;
	memset(count, 0, (size_t)b->units.n * sizeof(*count));
	for (int i = 0; i < n; i++)
		count[b->units.unit[node[i]]]++;
	while (kept < groups && cpl_bounds_take(&any, count, bound->asked.segment))
		kept++;
	return groups - kept;
}
