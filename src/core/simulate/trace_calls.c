/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations that stand for each MPI function. */
#include <ctype.h>
#include <string.h>

#include "signature/signature.h"
#include "simulate/trace_internal.h"

/* Functions not listed send nothing, and wait for nothing that is known. */
static const struct trace_call known[] = {
        {"Send", .shape = TRACE_POINT},
        {"Rsend", .shape = TRACE_POINT},
        {"Ssend", .shape = TRACE_POINT, .flags = CPL_OP_SYNCHRONOUS},
        {"Bsend", .shape = TRACE_POINT, .flags = CPL_OP_BUFFERED},
        {"Recv", .shape = TRACE_POINT, .any = TRACE_ANY},
        {"Mrecv", .shape = TRACE_POINT, .any = TRACE_ANY},
        {"Sendrecv", .shape = TRACE_POINT, .any = TRACE_PERHAPS_ANY},
        {"Sendrecv_replace", .shape = TRACE_POINT, .any = TRACE_PERHAPS_ANY},
        {"Start", .shape = TRACE_POINT, .any = TRACE_PERHAPS_ANY, .later = true},
        {"Startall", .shape = TRACE_POINT, .later = true, .each = true},
        {"Wait", .shape = TRACE_WAIT_OLDEST},
        {"Waitany", .shape = TRACE_WAIT_OLDEST},
        {"Waitsome", .shape = TRACE_WAIT_OLDEST},
        {"Waitall", .shape = TRACE_WAIT_ALL},
        {"Barrier", .shape = TRACE_ROUNDS},
        {"Allreduce", .shape = TRACE_ROUNDS},
        {"Allgather", .shape = TRACE_ROUNDS},
        {"Allgatherv", .shape = TRACE_ROUNDS},
        {"Bcast", .shape = TRACE_THROUGH},
        {"Reduce", .shape = TRACE_THROUGH},
        {"Gather", .shape = TRACE_THROUGH},
        {"Gatherv", .shape = TRACE_THROUGH},
        {"Scatter", .shape = TRACE_THROUGH},
        {"Scatterv", .shape = TRACE_THROUGH},
        {"Scan", .shape = TRACE_THROUGH},
        {"Exscan", .shape = TRACE_THROUGH},
        {"Alltoall", .shape = TRACE_AT_ONCE},
        {"Alltoallv", .shape = TRACE_AT_ONCE},
        {"Alltoallw", .shape = TRACE_AT_ONCE},
        {"Reduce_scatter", .shape = TRACE_AT_ONCE},
        {"Reduce_scatter_block", .shape = TRACE_AT_ONCE},
        {"Neighbor_allgather", .shape = TRACE_AT_ONCE},
        {"Neighbor_allgatherv", .shape = TRACE_AT_ONCE},
        {"Neighbor_alltoall", .shape = TRACE_AT_ONCE},
        {"Neighbor_alltoallv", .shape = TRACE_AT_ONCE},
        {"Neighbor_alltoallw", .shape = TRACE_AT_ONCE},
        {"Put", .shape = TRACE_ONE_SIDED},
        {"Rput", .shape = TRACE_ONE_SIDED},
        {"Accumulate", .shape = TRACE_ONE_SIDED},
        {"Raccumulate", .shape = TRACE_ONE_SIDED},
        {"Get", .shape = TRACE_ONE_SIDED},
        {"Rget", .shape = TRACE_ONE_SIDED},
        {"Get_accumulate", .shape = TRACE_ONE_SIDED},
        {"Rget_accumulate", .shape = TRACE_ONE_SIDED},
        {"Fetch_and_op", .shape = TRACE_ONE_SIDED},
        {"Compare_and_swap", .shape = TRACE_ONE_SIDED},
        {"Win_fence", .shape = TRACE_WAIT_ONE_SIDED},
        {"Win_complete", .shape = TRACE_WAIT_ONE_SIDED},
        {"Win_unlock", .shape = TRACE_WAIT_ONE_SIDED},
        {"Win_unlock_all", .shape = TRACE_WAIT_ONE_SIDED},
        {"Win_flush", .shape = TRACE_WAIT_ONE_SIDED},
        {"Win_flush_all", .shape = TRACE_WAIT_ONE_SIDED},
        {"Win_flush_local", .shape = TRACE_WAIT_ONE_SIDED},
        {"Win_flush_local_all", .shape = TRACE_WAIT_ONE_SIDED},
};

struct trace_call trace_find_call(const char *name)
{
	/* The non-blocking form is "I" and a small first letter. */
	bool later = name[0] == 'I' && islower((unsigned char)name[1]);

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct trace_call c = known[i];

		if (later ? tolower((unsigned char)c.name[0]) != name[1] ||
		                    strcmp(c.name + 1, name + 2)
		          : strcmp(c.name, name))
			continue;
		c.later |= later;
		return c;
	}
	return (struct trace_call){.name = name};
}

int trace_count(const struct cpl_run_kind *kind,
                const struct cpl_run_messages *m)
{
	double mean = m->messages / kind->events;

	return mean > 1 && mean < CPL_SIGNATURE_MAX_RANKS ? (int)(mean + 0.5)
	                                                  : 1;
}

/* Makes `count` messages of an entry, with the mean of all. */
static bool send(const struct cpl_run_messages *m, int count, unsigned flags,
                 struct cpl_op *op)
{
	double each = m->messages > 0 ? m->bytes / m->messages : 0;

	op->kind = m->inward ? CPL_OP_GET : CPL_OP_SEND;
	op->peer = m->peer;
	op->count = count;
	op->amount = each * count;
	op->flags = m->inward ? CPL_OP_ALONE : flags;
	return true;
}

/* Makes its receive, if it has one. */
static bool receive(const struct trace_call *call, const struct trace_rank *r,
                    unsigned flags, struct cpl_op *op)
{
	const struct cpl_run_kind *kind = trace_kind(r);

	op->kind = CPL_OP_RECEIVE;
	op->peer = kind->source;
	op->flags = flags;
	if (kind->source >= 0)
		return true;
	op->peer = CPL_OP_ANY;
	return trace_from_any(call, kind) &&
	       (call->any == TRACE_ANY || r->perhaps_any);
}

bool trace_from_any(const struct trace_call *call,
                    const struct cpl_run_kind *kind)
{
	if (call->any == TRACE_NONE || kind->source >= 0)
		return false;
	/* A receive from MPI_PROC_NULL has no communicator. Where the message
	 * was probed or the request started, it is not known. */
	if (!strcmp(call->name, "Mrecv"))
		return true;
	if (!strcmp(call->name, "Start"))
		return !kind->n;
	return kind->communicator;
}

/* Item 0 is a request, 1 the receive, 2 and 3 the request and send of the first
 * message, and so on; at the end it waits. */
static bool point(const struct cpl_trace *trace, struct trace_rank *r,
                  struct cpl_op *op)
{
	const struct cpl_run_kind *kind = trace_kind(r);
	const struct trace_call *call = trace_call_of(trace, kind);
	unsigned flags = call->later ? CPL_OP_LATER : 0;

	while (r->item <= 2 * (int64_t)kind->n + 2) {
		int64_t item = r->item++, i = item / 2 - 1;
		bool request = item == 0 || (i > 0 && call->each);
		const struct cpl_run_messages *m;

		if (item == 1) {
			if (receive(call, r, flags, op))
				return true;
		} else if (i == kind->n) {
			op->kind = CPL_OP_WAIT;
			return !call->later;
		} else if (item % 2 == 0) {
			op->kind = CPL_OP_REQUEST;
			if (call->later && request)
				return true;
		} else {
			m = &r->of->message[kind->first + i];
			return send(m, trace_count(kind, m),
			            flags | call->flags |
			                    (trace->rank[m->peer].loose
			                             ? CPL_OP_EAGER
			                             : 0),
			            op);
		}
	}
	return false;
}

static bool one_sided(struct trace_rank *r, struct cpl_op *op)
{
	const struct cpl_run_kind *kind = trace_kind(r);
	const struct cpl_run_messages *m;

	if (r->item == kind->n)
		return false;
	m = &r->of->message[kind->first + r->item++];
	return send(m, trace_count(kind, m), CPL_OP_ALONE, op);
}

/* Makes one operation without messages. */
static bool once(struct trace_rank *r, enum cpl_op_kind kind,
                 struct cpl_op *op)
{
	op->kind = kind;
	return !r->item++;
}

static int overlap(int first, int count, int round)
{
	return round >= first && round < first + count;
}

static int first_round(const struct trace_rank *r,
                       const struct trace_incoming *in)
{
	const struct cpl_run_kind *kind = trace_kind(r);

	if (r->shift &&
	    in->from == r->of->message[kind->first + kind->n - 1].peer)
		return 0;
	return in->round + r->shift;
}

/* The messages of item i (first the receives, then the sends) in the round. */
static int in_round(const struct trace_call *call, struct trace_rank *r,
                    int64_t i)
{
	const struct cpl_run_kind *kind = trace_kind(r);
	bool comes = i < r->n_in;
	const struct trace_incoming *in =
	        comes ? &r->pattern->in[r->in + i] : NULL;
	int count = comes ? in->count
	                  : trace_count(kind,
	                                &r->of->message[kind->first + i -
	                                                r->n_in]);
	int before = r->before;

	if (call->shape == TRACE_AT_ONCE || call->later ||
	    !r->pattern || r->pattern->at_once)
		return count;
	if (call->shape == TRACE_THROUGH)
		return r->round == !comes ? count : 0;
	if (comes)
		return overlap(first_round(r, in), in->count, r->round);
	r->before += count;
	return overlap(before, count, r->round);
}

static bool collective(const struct cpl_trace *trace, struct trace_rank *r,
                       struct cpl_op *op)
{
	const struct cpl_run_kind *kind = trace_kind(r);
	const struct trace_call *call = trace_call_of(trace, kind);
	int64_t last = r->n_in + kind->n;
	int count;

	op->flags = (call->later ? CPL_OP_LATER : 0) |
	            (r->pattern ? 0 : CPL_OP_ALONE);
	if (r->pattern)
		op->context = r->global[kind->communicator - 1] + 1;
	if (call->later && r->item < 0) {
		r->item++;
		op->kind = CPL_OP_REQUEST;
		return true;
	}
	for (; r->round < r->rounds; r->round++) {
		while (r->item < last) {
			int64_t i = r->item++;

			if (i == r->n_in)
				r->before = r->shift;
			count = in_round(call, r, i);
			if (!count)
				continue;
			if (i >= r->n_in)
				return send(&r->of->message[kind->first + i -
				                            r->n_in],
				            count, op->flags, op);
			op->kind = CPL_OP_RECEIVE;
			op->peer = r->pattern->in[r->in + i].from;
			return true;
		}
		if (r->item++ == last && !call->later) {
			op->kind = CPL_OP_WAIT;
			return true;
		}
		r->item = 0;
	}
	return false;
}

bool trace_operation(const struct cpl_trace *trace, struct trace_rank *r,
                     struct cpl_op *op)
{
	switch (trace_call_of(trace, trace_kind(r))->shape) {
	case TRACE_NOTHING:
		return false;
	case TRACE_POINT:
		return point(trace, r, op);
	case TRACE_WAIT_OLDEST:
		return once(r, CPL_OP_WAIT_OLDEST, op);
	case TRACE_WAIT_ALL:
		return once(r, CPL_OP_WAIT_ALL, op);
	case TRACE_WAIT_ONE_SIDED:
		return once(r, CPL_OP_WAIT, op);
	case TRACE_ONE_SIDED:
		return one_sided(r, op);
	default:
		return collective(trace, r, op);
	}
}
