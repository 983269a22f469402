/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events.h"

#include <stdlib.h>
#include <string.h>

#define NONE REC_FOLD_NONE

static void no_order(void *arg, uint32_t event, const struct rec_amount *a)
{
	struct rec_events *e = arg;
	struct rec_amount *sum = &e->kinds.kind[event].unordered;

	sum->count += a->count;
	sum->bytes += a->bytes;
	sum->compute += a->compute;
	sum->duration += a->duration;
}

static void clear(struct rec_events *e)
{
	e->now = (struct rec_event){.source = REC_NO_RANK};
}

int rec_events_init(struct rec_events *e, uint32_t functions, uint32_t nodes)
{
	memset(e, 0, sizeof(*e));
	clear(e);
	e->pending = NONE;
	e->fold = rec_fold_new(nodes, no_order, e);
	return rec_kinds_init(&e->kinds, functions) || !e->fold ? -1 : 0;
}

void rec_events_free(struct rec_events *e)
{
	rec_kinds_free(&e->kinds);
	rec_fold_free(e->fold);
	free(e->communicator);
	free(e->message);
	memset(e, 0, sizeof(*e));
}

uint16_t rec_events_communicator(struct rec_events *e, uint64_t hash,
                                 uint32_t size)
{
	struct rec_communicator *more;
	uint32_t i;

	for (i = 0; i < e->n_communicators; i++)
		if (e->communicator[i].hash == hash &&
		    e->communicator[i].size == size)
			return (uint16_t)(i + 1);
	if (i == REC_COMMUNICATORS_MAX)
		return 0;
	if (!(i & (i - 1))) { /* full at powers of two */
		more = realloc(e->communicator,
		               sizeof(*more) * (i ? 2 * i : 1));
		if (!more)
			return 0;
		e->communicator = more;
	}
	e->communicator[i] = (struct rec_communicator){hash, size};
	return (uint16_t)++e->n_communicators;
}

void rec_events_message(struct rec_events *e, int peer, bool inward,
                        uint64_t bytes, uint64_t messages)
{
	struct rec_kind_message *more;

	if (e->now.n == e->capacity) {
		uint32_t capacity = e->capacity ? 2 * e->capacity : 64;

		more = realloc(e->message, sizeof(*more) * capacity);
		if (!more)
			return;
		e->message = more;
		e->capacity = capacity;
	}
	e->message[e->now.n++] =
	        (struct rec_kind_message){peer, inward, bytes, messages};
	e->now.bytes += bytes;
}

void rec_events_on(struct rec_events *e, uint16_t communicator)
{
	e->now.communicator = communicator;
}

void rec_events_from(struct rec_events *e, int source, uint64_t bytes)
{
	e->now.source = source;
	if (!e->now.n) /* else what is sent counts */
		e->now.bytes = bytes;
}

void rec_events_begin(struct rec_events *e, int64_t now)
{
	e->end = now;
}

static void append_pending(struct rec_events *e)
{
	if (e->pending != NONE)
		rec_fold_append(e->fold, e->pending, &e->amount);
	e->pending = NONE;
}

void rec_events_end(struct rec_events *e, uint16_t function, bool polls,
                    int64_t start, int64_t end)
{
	uint64_t compute = start > e->end ? (uint64_t)(start - e->end) : 0;
	uint64_t duration = end > start ? (uint64_t)(end - start) : 0;
	uint32_t kind;

	e->now.function = function;
	e->now.message = e->message;
	kind = rec_kinds_find(&e->kinds, &e->now);
	e->end = end;
	if (kind == NONE) {
		e->lost++;
	} else if (polls && e->pending_polls && kind == e->pending) {
		e->amount.compute += compute;
		e->amount.duration += duration;
	} else {
		append_pending(e);
		e->pending = kind;
		e->pending_polls = polls;
		e->amount = (struct rec_amount){1, e->now.n ? e->now.bytes : 0,
		                                compute, duration};
	}
	clear(e);
}

void rec_events_finish(struct rec_events *e)
{
	append_pending(e);
}
