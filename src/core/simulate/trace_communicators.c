/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communicators on which ranks make collective calls, with their members. */
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "simulate/trace_internal.h"

bool trace_collective(const struct cpl_trace *trace,
                      const struct cpl_run_rank *rank,
                      const struct cpl_run_kind *kind)
{
	return trace_call_of(trace, kind)->shape >= TRACE_ROUNDS &&
	       kind->communicator &&
	       rank->communicator[kind->communicator - 1].size > 1;
}

/* A rank's number for a communicator on which it makes collective calls. */
struct seen_communicator {
	uint64_t hash;
	int size, rank, number;
};

static CPL_SORT_BY(by_hash, struct seen_communicator, CPL_UP(hash),
                   CPL_UP(size), CPL_UP(rank), CPL_UP(number))

static int find_seen(struct cpl_trace *trace, struct seen_communicator **list,
                     int64_t *n, struct cpl_error *err)
{
	for (int rank = 0; rank < trace->n_ranks; rank++) {
		struct trace_rank *r = &trace->rank[rank];

		for (int c = 0; c < r->of->n_communicators; c++)
			r->global[c] = -1;
		for (int k = 0; k < r->of->n_kinds; k++) {
			const struct cpl_run_kind *kind = &r->of->kind[k];
			int c = kind->communicator - 1;

			if (!trace_collective(trace, r->of, kind) ||
			    r->global[c] == 0)
				continue;
			if (cpl_array_grow(list, *n, sizeof(**list), err))
				return -1;
			r->global[c] = 0;
			(*list)[(*n)++] = (struct seen_communicator){
			        r->of->communicator[c].hash,
			        r->of->communicator[c].size, rank, c};
		}
	}
	return 0;
}

static int add_communicator(struct cpl_trace *trace,
                            const struct seen_communicator *list, int n,
                            struct cpl_error *err)
{
	struct trace_communicator *c;

	if (cpl_array_grow(&trace->communicator, trace->n_communicators,
	                   sizeof(*c), err))
		return -1;
	c = &trace->communicator[trace->n_communicators];
	*c = (struct trace_communicator){.size = list->size};
	trace->n_communicators++;
	c->member = calloc((size_t)n, sizeof(*c->member));
	c->number = calloc((size_t)n, sizeof(*c->number));
	if (!c->member || !c->number)
		return cpl_fail_memory(err);
	for (int i = 0; i < n; i++) {
		/* Calls are counted by a rank's own number for it. */
		if (i && list[i].rank == list[i - 1].rank)
			return cpl_fail(err,
			                "rank %d: its communicators %d and %d "
			                "are the same", list[i].rank,
			                list[i - 1].number + 1,
			                list[i].number + 1);
		trace->rank[list[i].rank].global[list[i].number] =
		        trace->n_communicators - 1;
		c->number[c->n] = list[i].number;
		c->member[c->n++] = list[i].rank;
	}
	return 0;
}

int trace_communicators(struct cpl_trace *trace, struct cpl_error *err)
{
	struct seen_communicator *list = NULL;
	int64_t n = 0;
	int rc = find_seen(trace, &list, &n, err);

	if (n)
		qsort(list, (size_t)n, sizeof(*list), by_hash);
	for (int64_t i = 0, end; i < n && !rc; i = end) {
		for (end = i + 1; end < n && list[end].hash == list[i].hash &&
		                  list[end].size == list[i].size;)
			end++;
		rc = add_communicator(trace, list + i, (int)(end - i), err);
	}
	free(list);
	return rc;
}

void trace_communicators_free(struct cpl_trace *trace)
{
	for (int i = 0; i < trace->n_communicators; i++) {
		struct trace_communicator *c = &trace->communicator[i];

		for (int k = 0; k < TRACE_RECENT; k++)
			trace_let_go(c->recent[k]);
		for (int64_t k = c->first; k < c->n_live; k++)
			trace_let_go(c->live[k]);
		cpl_free_all(c->live, c->left, c->member, c->number);
	}
	free(trace->communicator);
}

int trace_member_of(const struct trace_communicator *c, int rank)
{
	int low = 0, high = c->n;

	CPL_BISECT(low, high, middle, c->member[middle] < rank);
	return low < c->n && c->member[low] == rank ? low : -1;
}

void trace_let_go(struct trace_pattern *p)
{
	if (!p || --p->held)
		return;
	cpl_free_all(p->kind, p->row, p->in, p);
}
