/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rank's events tell whom it sends to in collective calls; who sends to it is
 * in those of the others. So when the first rank comes to the n-th call on a
 * communicator, the calls of all its members are looked up ahead of where they
 * are. Operations of the same kinds are worked out once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "signature/signature.h"
#include "simulate/trace_internal.h"

/* A rank with more messages sends them at once. A ring has twice as many rounds
 * as ranks; no algorithm has more, and each round is looked at by all. */
#define MOST_ROUNDS 64

/* Looks ahead to the rank's next collective call on its communicator. Returns
 * its kind; -1: there is none; -2: memory is out. */
static int look_ahead(struct cpl_trace *trace, struct trace_rank *r,
                      int communicator, struct cpl_error *err)
{
	struct trace_queue *q = &r->queue[communicator];
	int next;

	while (!q->n) {
		const struct cpl_run_node *node = trace_step(&r->scout);
		const struct cpl_run_kind *kind;
		struct trace_queue *to;

		if (!node)
			return -1;
		kind = &r->of->kind[node->kind];
		if (!trace_collective(trace, r->of, kind))
			continue;
		to = &r->queue[kind->communicator - 1];
		if (cpl_array_grow(&to->kind, to->n, sizeof(*to->kind), err))
			return -2;
		to->kind[to->n++] = node->kind;
	}
	next = q->kind[q->first++];
	/* This moves entries seldom: at least as many went before. */
	if (2 * q->first >= q->n) {
		q->n -= q->first;
		memmove(q->kind, q->kind + q->first,
		        (size_t)q->n * sizeof(*q->kind));
		q->first = 0;
	}
	return next;
}

static int add_incoming(const struct trace_communicator *c, int from,
                        const struct cpl_run_rank *rank,
                        const struct cpl_run_kind *kind,
                        struct trace_pattern *p, bool place,
                        struct cpl_error *err)
{
	int round = 0;

	for (int i = 0; i < kind->n; i++) {
		const struct cpl_run_messages *m =
		        &rank->message[kind->first + i];
		int count = trace_count(kind, m), to = trace_member_of(c, m->peer);

		if (m->inward)
			continue;
		if (to < 0)
			return cpl_fail(err,
			                "rank %d sends to rank %d in a "
			                "collective call that the other does "
			                "not make", from, m->peer);
		if (place)
			p->in[p->row[to + 1]++] =
			        (struct trace_incoming){from, round, count};
		else
			p->row[to + 2]++;
		round += round <= CPL_SIGNATURE_MAX_RANKS ? count : 0;
	}
	p->at_once |= kind->n > MOST_ROUNDS || round > 2 * c->n + MOST_ROUNDS;
	return 0;
}

static int fill(const struct cpl_trace *trace,
                const struct trace_communicator *c, struct trace_pattern *p,
                struct cpl_error *err)
{
	p->row = calloc((size_t)c->n + 2, sizeof(*p->row));
	if (!p->row)
		return cpl_fail_memory(err);
	for (int place = 0; place < 2; place++) {
		for (int i = 0; i < c->n; i++) {
			const struct trace_rank *r =
			        &trace->rank[c->member[i]];

			if (add_incoming(c, c->member[i], r->of,
			                 &r->of->kind[p->kind[i]], p, place,
			                 err))
				return -1;
		}
		if (place)
			break;
		for (int i = 0; i < c->n; i++)
			p->row[i + 2] += p->row[i + 1];
		p->in = malloc(((size_t)p->row[c->n + 1] + 1) * sizeof(*p->in));
		if (!p->in)
			return cpl_fail_memory(err);
	}
	return 0;
}

/* The pattern of these kinds, held once more; kind is taken. NULL with err. */
static struct trace_pattern *pattern_of(const struct cpl_trace *trace,
                                        struct trace_communicator *c, int *kind,
                                        struct cpl_error *err)
{
	struct trace_pattern *p;

	for (int i = 0; i < TRACE_RECENT; i++) {
		p = c->recent[i];
		if (p && !memcmp(p->kind, kind, (size_t)c->n * sizeof(*kind))) {
			free(kind);
			p->held++;
			return p;
		}
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		cpl_fail_memory(err);
		free(kind);
		return NULL;
	}
	p->kind = kind;
	p->held = 1;
	if (fill(trace, c, p, err)) {
		trace_let_go(p);
		return NULL;
	}
	trace_let_go(c->recent[c->oldest]);
	c->recent[c->oldest] = p;
	c->oldest = (c->oldest + 1) % TRACE_RECENT;
	p->held++;
	return p;
}

/* The kinds of all members' next calls; NULL with err. */
static int *next_kinds(struct cpl_trace *trace, int rank, int global,
                       struct cpl_error *err)
{
	const struct trace_communicator *c = &trace->communicator[global];
	const struct trace_rank *mine = &trace->rank[rank];
	const char *name = trace_call_of(trace, trace_kind(mine))->name;
	int *kind = malloc((size_t)c->n * sizeof(*kind));
	char where[64];

	if (!kind)
		return cpl_fail_null_memory(err);
	cpl_trace_where(trace, rank, where, sizeof(where));
	if (c->n < c->size) {
		cpl_fail(err, "deadlock: rank %d%s: of the %d ranks of its "
		              "communicator only %d make collective calls",
		         rank, where, c->size, c->n);
		goto fail;
	}
	for (int i = 0; i < c->n; i++) {
		struct trace_rank *r = &trace->rank[c->member[i]];
		const char *other;

		kind[i] = look_ahead(trace, r, c->number[i], err);
		if (kind[i] == -2)
			goto fail;
		other = kind[i] < 0 ? "no call"
		                    : trace_call_of(trace, &r->of->kind[kind[i]])
		                              ->name;
		if (kind[i] >= 0 && !strcmp(other, name))
			continue;
		cpl_fail(err, "deadlock: rank %d%s: rank %d makes %s there",
		         rank, where, c->member[i], other);
		goto fail;
	}
	return kind;
fail:
	free(kind);
	return NULL;
}

static int begin_next(struct cpl_trace *trace, int rank, int global,
                      struct cpl_error *err)
{
	struct trace_communicator *c = &trace->communicator[global];
	struct trace_pattern *p;
	int *kind;

	if (cpl_array_grow(&c->live, c->n_live, sizeof(struct trace_pattern *),
	                   err) ||
	    cpl_array_grow(&c->left, c->n_live, sizeof(*c->left), err))
		return -1;
	kind = next_kinds(trace, rank, global, err);
	p = kind ? pattern_of(trace, c, kind, err) : NULL;
	if (!p)
		return -1;
	c->live[c->n_live] = p;
	c->left[c->n_live++] = c->n;
	return 0;
}

/* The number of rounds that a rank has. */
static int rounds_of(const struct cpl_trace *trace, const struct trace_rank *r)
{
	const struct cpl_run_kind *kind = trace_kind(r);
	const struct trace_call *call = trace_call_of(trace, kind);
	int rounds = 1, mine = 0;

	if (call->shape == TRACE_AT_ONCE || call->later || !r->pattern ||
	    r->pattern->at_once)
		return 1;
	if (call->shape == TRACE_THROUGH)
		return 2;
	for (int i = 0; i < kind->n; i++)
		mine += trace_count(kind, &r->of->message[kind->first + i]);
	for (int64_t i = r->in; i < r->in + r->n_in; i++) {
		const struct trace_incoming *in = &r->pattern->in[i];

		if (in->round + in->count > rounds)
			rounds = in->round + in->count;
	}
	return (mine > rounds ? mine : rounds) + r->shift;
}

static int shift_of(const struct cpl_trace *trace, const struct trace_rank *r)
{
	const struct cpl_run_kind *kind = trace_kind(r);
	int size = r->of->communicator[kind->communicator - 1].size, log = 0;

	while (2 << log <= size)
		log++;
	return !strcmp(trace_call_of(trace, kind)->name, "Allreduce") &&
	       1 << log < size && kind->n == log + 1;
}

int trace_enter(struct cpl_trace *trace, int rank, struct cpl_error *err)
{
	struct trace_rank *r = &trace->rank[rank];
	const struct cpl_run_kind *kind = trace_kind(r);
	int number = kind->communicator - 1, member;
	struct trace_communicator *c;
	int64_t at;

	r->pattern = NULL;
	r->in = r->n_in = r->shift = r->round = 0;
	r->item = 0;
	r->rounds = 1;
	if (trace_call_of(trace, kind)->shape < TRACE_ROUNDS)
		return 0;
	if (trace_call_of(trace, kind)->later)
		r->item = -1; /* its request */
	if (!trace_collective(trace, r->of, kind))
		return 0;
	c = &trace->communicator[r->global[number]];
	at = r->passed[number] - c->base;
	if (at == c->n_live &&
	    begin_next(trace, rank, r->global[number], err))
		return -1;
	r->pattern = c->live[at];
	member = trace_member_of(c, rank);
	r->in = r->pattern->row[member];
	r->n_in = r->pattern->row[member + 1] - r->in;
	r->shift = shift_of(trace, r);
	r->rounds = rounds_of(trace, r);
	return 0;
}

void trace_leave(struct cpl_trace *trace, int rank)
{
	struct trace_rank *r = &trace->rank[rank];
	int number = trace_kind(r)->communicator - 1;
	struct trace_communicator *c;

	if (!r->pattern)
		return;
	c = &trace->communicator[r->global[number]];
	c->left[r->passed[number]++ - c->base]--;
	r->pattern = NULL;
	while (c->first < c->n_live && !c->left[c->first])
		trace_let_go(c->live[c->first++]);
	/* This moves entries seldom: at least as many went before. */
	if (2 * c->first < c->n_live)
		return;
	c->base += c->first;
	c->n_live -= c->first;
	memmove(c->live, c->live + c->first,
	        (size_t)c->n_live * sizeof(*c->live));
	memmove(c->left, c->left + c->first,
	        (size_t)c->n_live * sizeof(*c->left));
	c->first = 0;
}
