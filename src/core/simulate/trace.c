/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks and their calls, and what receives from any rank may take. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "simulate/trace_internal.h"

/* The seconds after the last call. */
static double tail_of(const struct cpl_run_rank *of)
{
	double rest = of->time;

	for (int64_t i = 0; i < of->n_nodes; i++)
		if (of->node[i].kind >= 0)
			rest -= of->node[i].compute + of->node[i].duration;
	return fmax(rest, 0);
}

static int check_rank(const struct cpl_run_rank *of, struct cpl_error *err)
{
	if (!of->has_events)
		return cpl_fail(err, "rank %d has totals only, no calls",
		                of->rank);
	if (of->n_unordered)
		return cpl_fail(err,
		                "rank %d: the order of a part of its calls is "
		                "not known, since they were too different to "
		                "be kept", of->rank);
	if (of->lost > 0)
		return cpl_fail(err,
		                "rank %d: memory was out for %.0f messages",
		                of->rank, of->lost);
	return 0;
}

static int open_rank(struct trace_rank *r, const struct cpl_run_rank *of,
                     struct cpl_error *err)
{
	size_t n = (size_t)of->n_communicators + 1;

	if (check_rank(of, err))
		return -1;
	r->of = of;
	r->tail = tail_of(of);
	r->global = calloc(n, sizeof(*r->global));
	r->queue = calloc(n, sizeof(*r->queue));
	r->passed = calloc(n, sizeof(*r->passed));
	if (!r->global || !r->queue || !r->passed)
		return cpl_fail_memory(err);
	return trace_cursor_open(&r->walk, of, err) ||
	                       trace_cursor_open(&r->scout, of, err)
	               ? -1
	               : 0;
}

/* Sends count up, and receives with a source count down. */
static int add_pair(struct cpl_trace *trace, int to, int from, double n,
                    struct cpl_error *err)
{
	if (cpl_array_grow(&trace->pair, trace->n_pairs, sizeof(*trace->pair),
	                   err))
		return -1;
	trace->pair[trace->n_pairs++] = (struct trace_pair){to, from, n};
	return 0;
}

static CPL_SORT_BY(by_pair, struct trace_pair, CPL_UP(to), CPL_UP(from))

static int add_kind(struct cpl_trace *trace, int rank,
                    const struct cpl_run_kind *kind, struct cpl_error *err)
{
	/* A rank may have no messages at all. */
	const struct cpl_run_messages *m = trace->rank[rank].of->message;

	for (int64_t i = kind->first; i < kind->first + kind->n; i++)
		if (!m[i].inward &&
		    add_pair(trace, m[i].peer, rank, kind->events, err))
			return -1;
	return kind->source < 0 ? 0
	                        : add_pair(trace, rank, kind->source,
	                                   -kind->events, err);
}

/* A rank's events that receive from any, or may do so. */
struct any {
	double sure, perhaps;
	bool unknown; /* it has receives that the file does not tell */
};

static struct any count_any(const struct cpl_trace *trace,
                            const struct cpl_run_rank *of)
{
	struct any any = {0};

	for (int k = 0; k < of->n_kinds; k++) {
		const struct trace_call *call =
		        trace_call_of(trace, &of->kind[k]);

		any.unknown |= call->each;
		if (!trace_from_any(call, &of->kind[k]))
			continue;
		if (call->any == TRACE_ANY)
			any.sure += of->kind[k].events;
		else
			any.perhaps += of->kind[k].events;
	}
	return any;
}

/* Events have no tags. So that a receive from any takes nothing that another
 * one needs, it may have of each rank what that rank sends beyond the receives
 * that name it. Where that is more than such receives take, others without a
 * source were from any, too, and not from none. */
static int count_surplus(struct cpl_trace *trace, struct cpl_error *err)
{
	int64_t n = 0, at = 0;

	for (int rank = 0; rank < trace->n_ranks; rank++) {
		const struct cpl_run_rank *of = trace->rank[rank].of;

		for (int k = 0; k < of->n_kinds; k++)
			if (trace_call_of(trace, &of->kind[k])->shape ==
			            TRACE_POINT &&
			    add_kind(trace, rank, &of->kind[k], err))
				return -1;
	}
	if (trace->n_pairs)
		qsort(trace->pair, (size_t)trace->n_pairs,
		      sizeof(*trace->pair), by_pair);
	for (int64_t i = 0; i < trace->n_pairs; i++)
		if (n && !by_pair(&trace->pair[n - 1], &trace->pair[i]))
			trace->pair[n - 1].n += trace->pair[i].n;
		else
			trace->pair[n++] = trace->pair[i];
	trace->n_pairs = n;
	for (int rank = 0; rank < trace->n_ranks; rank++) {
		struct trace_rank *r = &trace->rank[rank];
		struct any any = count_any(trace, r->of);
		double surplus = 0;

		for (; at < n && trace->pair[at].to == rank; at++)
			surplus += fmax(trace->pair[at].n, 0);
		r->perhaps_any = surplus > any.sure && any.perhaps > 0;
		if (r->perhaps_any)
			any.sure += any.perhaps;
		r->takes_any = any.sure > 0;
		r->loose = any.unknown && surplus > any.sure;
	}
	return 0;
}

struct cpl_trace *cpl_trace_new(const struct cpl_run_events *events,
                                struct cpl_error *err)
{
	struct cpl_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return cpl_fail_null_memory(err);
	trace->events = events;
	trace->call = calloc((size_t)events->n_functions + 1,
	                     sizeof(*trace->call));
	trace->rank = calloc((size_t)events->n, sizeof(*trace->rank));
	if (cpl_out_of_memory(!trace->call || !trace->rank, err))
		goto fail;
	for (int i = 0; i < events->n_functions; i++)
		trace->call[i] = trace_find_call(events->function[i]);
	for (int i = 0; i < events->ranks; i++) {
		if (i == events->n || events->rank[i].rank != i) {
			cpl_fail(err, "rank %d of %d is missing", i,
			         events->ranks);
			goto fail;
		}
		trace->n_ranks++;
		if (open_rank(&trace->rank[i], &events->rank[i], err))
			goto fail;
	}
	if (!count_surplus(trace, err) && !trace_communicators(trace, err))
		return trace;
fail:
	cpl_trace_free(trace);
	return NULL;
}

void cpl_trace_free(struct cpl_trace *trace)
{
	if (!trace)
		return;
	trace_communicators_free(trace);
	for (int i = 0; i < trace->n_ranks; i++) {
		struct trace_rank *r = &trace->rank[i];

		for (int c = 0; r->queue && c < r->of->n_communicators; c++)
			free(r->queue[c].kind);
		cpl_free_all(r->queue, r->passed, r->global, r->walk.entered,
		             r->scout.entered);
	}
	cpl_free_all(trace->rank, trace->call, trace->pair, trace);
}

bool cpl_trace_takes_any(const struct cpl_trace *trace, int rank)
{
	return trace->rank[rank].takes_any;
}

bool cpl_trace_give_any(struct cpl_trace *trace, int from, int to)
{
	const struct trace_pair key = {to, from, 0};
	struct trace_pair *pair =
	        bsearch(&key, trace->pair, (size_t)trace->n_pairs,
	                sizeof(*trace->pair), by_pair);

	if (!pair || pair->n < 1)
		return false;
	pair->n--;
	return true;
}

/* The next call, and the time before it. */
static bool next_call(struct trace_rank *r, struct cpl_op *op)
{
	r->node = trace_step(&r->walk);
	r->stage = r->node ? TRACE_ENTER : TRACE_TAIL;
	r->calls++;
	if (!r->node || !(r->node->compute > 0))
		return false;
	op->kind = CPL_OP_COMPUTE;
	op->amount = r->node->compute / r->node->count;
	return true;
}

int cpl_trace_next(struct cpl_trace *trace, int rank, struct cpl_op *op,
                   struct cpl_error *err)
{
	struct trace_rank *r = &trace->rank[rank];

	for (;;) {
		*op = (struct cpl_op){.kind = CPL_OP_END, .count = 1};
		switch (r->stage) {
		case TRACE_BEGIN:
			r->stage = TRACE_CALL;
			op->kind = CPL_OP_PHASE;
			return 0;
		case TRACE_CALL:
			if (next_call(r, op))
				return 0;
			break;
		case TRACE_ENTER:
			if (trace_enter(trace, rank, err))
				return -1;
			r->stage = TRACE_OPERATIONS;
			break;
		case TRACE_OPERATIONS:
			if (trace_operation(trace, r, op))
				return 0;
			trace_leave(trace, rank);
			r->stage = TRACE_CALL;
			break;
		case TRACE_TAIL:
			r->stage = TRACE_FINALIZE;
			if (!(r->tail > 0))
				break;
			op->kind = CPL_OP_COMPUTE;
			op->amount = r->tail;
			return 0;
		case TRACE_FINALIZE:
			r->stage = TRACE_END;
			op->kind = CPL_OP_WAIT_ALL;
			return 0;
		case TRACE_END:
			return 0;
		}
	}
}
