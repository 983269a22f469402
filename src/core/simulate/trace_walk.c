/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps through the trees of loops that ranks' calls are folded into. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulate/trace_internal.h"

/* The rounds of the entry that begins; those of all entries sum up exactly. */
static double rounds_of_entry(struct trace_cursor *w, int64_t at)
{
	const struct cpl_run_node *node = &w->of->node[at];
	double mean = node->rounds / node->entries, entry;

	if (!w->entered)
		return mean;
	entry = w->entered[at]++;
	return floor((entry + 1) * mean) - floor(entry * mean);
}

const struct cpl_run_node *trace_step(struct trace_cursor *w)
{
	for (;;) {
		struct trace_frame *f = &w->frame[w->depth];
		const struct cpl_run_node *node;
		int64_t at = f->at;
		double rounds;

		if (at == f->end) {
			if (--f->rounds >= 0.5) {
				f->at = f->begin;
				continue;
			}
			if (!w->depth)
				return NULL;
			w->depth--;
			continue;
		}
		node = &w->of->node[at];
		f->at += node->size;
		if (node->kind >= 0)
			return node;
		rounds = rounds_of_entry(w, at);
		if (rounds < 0.5)
			continue;
		w->frame[++w->depth] = (struct trace_frame){
		        at + 1, at + node->size, at + 1, rounds};
	}
}

static bool uneven(const struct cpl_run_rank *of)
{
	for (int64_t i = 0; i < of->n_nodes; i++)
		if (of->node[i].kind < 0 &&
		    fmod(of->node[i].rounds, of->node[i].entries) > 0)
			return true;
	return false;
}

int trace_cursor_open(struct trace_cursor *w, const struct cpl_run_rank *of,
                    struct cpl_error *err)
{
	w->of = of;
	w->frame[0] = (struct trace_frame){0, of->n_nodes, 0, 1};
	if (!uneven(of))
		return 0;
	w->entered = calloc((size_t)of->n_nodes, sizeof(*w->entered));
	return w->entered ? 0 : cpl_fail_memory(err);
}

static double size_of_rank(const struct cpl_run_rank *of)
{
	struct {
		int64_t end;
		double times;
	} loop[TRACE_DEPTH] = {{of->n_nodes, 1}};
	double size = 0;
	int depth = 0;

	for (int64_t i = 0; i < of->n_nodes; i++) {
		const struct cpl_run_node *node = &of->node[i];
		double times;

		while (i == loop[depth].end)
			depth--;
		times = loop[depth].times;
		if (node->kind >= 0) {
			size += times * (1 + of->kind[node->kind].n);
			continue;
		}
		size += times;
		loop[++depth].end = i + node->size;
		loop[depth].times = times * (node->rounds / node->entries);
	}
	return size;
}

double cpl_trace_size(const struct cpl_run_events *events)
{
	double size = 0;

	for (int i = 0; i < events->n; i++)
		size += size_of_rank(&events->rank[i]);
	return size;
}

void cpl_trace_where(const struct cpl_trace *trace, int rank, char *text,
                     size_t size)
{
	const struct trace_rank *r = &trace->rank[rank];
	const struct cpl_run_events *e = trace->events;

	if (r->stage < TRACE_TAIL && r->node)
		snprintf(text, size, " in %.24s, its call %lld",
		         e->function[trace_kind(r)->function],
		         (long long)r->calls);
	else
		snprintf(text, size, " in Finalize");
}
