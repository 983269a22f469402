/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of a few calls as text, a line for each rank: what a call is called,
 * ">1:8e3*2" for two messages of 8000 bytes in all to rank 1 ("^1:" from it,
 * one-sided), "<2" or "<any" for its source, "@1" for its communicator, which
 * all ranks are on ("@2": that a second time), "+0.5" for seconds of computing before the next call, and
 * "6/2[ ... ]" for a loop of 6 rounds in 2 entries.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "signature/phases/events.h"

enum { TEXT_CALLS = 512 }; /* of a rank */

static inline int text_function(struct cpl_run_events *e, const char *name,
                                size_t length)
{
	for (int i = 0; i < e->n_functions; i++)
		if (strlen(e->function[i]) == length &&
		    !strncmp(e->function[i], name, length))
			return i;
	e->function[e->n_functions] = strndup(name, length);
	return e->n_functions++;
}

/* The rest of a call's word. */
static inline void text_call(struct cpl_run_rank *r, struct cpl_run_kind *kind,
                             char *c)
{
	while (*c) {
		char what = *c++;
		struct cpl_run_messages *m = &r->message[r->n_messages];

		if (what == '<') {
			kind->source = !strncmp(c, "any", 3)
			                       ? (c += 3, -1)
			                       : (int)strtol(c, &c, 10);
			kind->communicator = 1;
			continue;
		}
		if (what == '@') {
			kind->communicator = (int)strtol(c, &c, 10);
			if (kind->communicator > r->n_communicators)
				r->communicator[r->n_communicators++] =
				        r->communicator[0];
			continue;
		}
		assert_true(what == '>' || what == '^');
		m->inward = what == '^';
		m->peer = (int)strtol(c, &c, 10);
		m->bytes = strtod(c + 1, &c);
		m->messages = *c == '*' ? strtod(c + 1, &c) : 1;
		r->n_messages++;
		kind->n++;
		assert_in_range(r->n_messages, 0, TEXT_CALLS - 1);
	}
}

/* How often what is between these nodes happens, into kinds and messages; but
 * loops of several entries say that themselves. */
static inline void text_scale(struct cpl_run_rank *r, int64_t from, int64_t to,
                              double times)
{
	for (int64_t i = from; i < to; i++) {
		struct cpl_run_node *node = &r->node[i];
		struct cpl_run_kind *kind;

		if (node->kind < 0 && node->entries > 1) {
			i += node->size - 1;
			continue;
		}
		if (node->kind < 0) {
			node->entries *= times;
			node->rounds *= times;
			continue;
		}
		kind = &r->kind[node->kind];
		node->count *= times;
		node->compute *= times;
		kind->events *= times;
		for (int k = 0; k < kind->n; k++) {
			r->message[kind->first + k].messages *= times;
			r->message[kind->first + k].bytes *= times;
		}
	}
}

/* The words up to the end or a "]". */
static inline char *text_calls(struct cpl_run_events *e,
                               struct cpl_run_rank *r, char *c)
{
	double compute = 0;

	for (;;) {
		int64_t at = r->n_nodes;
		struct cpl_run_kind *kind = &r->kind[r->n_kinds];
		size_t length;
		char *end;

		c += strspn(c, " ");
		if (!*c || *c == ']')
			return c;
		length = strcspn(c, " ");
		end = c + length;
		if (*c == '+') {
			compute = strtod(c, NULL);
			c = end;
			continue;
		}
		r->n_nodes++;
		assert_in_range(r->n_nodes, 1, TEXT_CALLS - 1);
		if (*c >= '0' && *c <= '9') {
			double rounds = strtod(c, &c);
			double entries = *c == '/' ? strtod(c + 1, &c) : 1;

			c = text_calls(e, r, c + 1) + 1;
			text_scale(r, at + 1, r->n_nodes, rounds);
			r->node[at] = (struct cpl_run_node){
			        .kind = -1,
			        .size = (int)(r->n_nodes - at),
			        .entries = entries,
			        .rounds = rounds};
			continue;
		}
		if (*end)
			*end++ = '\0';
		length = strcspn(c, "<>^@");
		*kind = (struct cpl_run_kind){
		        .function = text_function(e, c, length),
		        .source = -1,
		        .events = 1,
		        .first = r->n_messages};
		text_call(r, kind, c + length);
		r->node[at] = (struct cpl_run_node){.kind = r->n_kinds++,
		                                    .size = 1,
		                                    .count = 1,
		                                    .compute = compute};
		r->time += compute;
		compute = 0;
		c = end;
	}
}

/* Lines end by "\n"; the last rank's too. */
static inline struct cpl_run_events *parse_trace(const char *text)
{
	struct cpl_run_events *e = calloc(1, sizeof(*e));
	char *copy = strdup(text), *next = copy;

	assert_non_null(e);
	assert_non_null(copy);
	e->function = calloc(64, sizeof(*e->function));
	for (const char *c = text; *c; c++)
		e->ranks += *c == '\n';
	e->rank = calloc((size_t)e->ranks, sizeof(*e->rank));
	assert_non_null(e->function);
	assert_non_null(e->rank);
	for (; e->n < e->ranks; e->n++) {
		struct cpl_run_rank *r = &e->rank[e->n];
		char *line = next;

		next = strchr(line, '\n');
		*next++ = '\0';
		r->rank = e->n;
		r->has_events = true;
		r->node = calloc(TEXT_CALLS, sizeof(*r->node));
		r->kind = calloc(TEXT_CALLS, sizeof(*r->kind));
		r->message = calloc(TEXT_CALLS, sizeof(*r->message));
		r->communicator = calloc(2, sizeof(*r->communicator));
		assert_true(r->node && r->kind && r->message &&
		            r->communicator);
		r->communicator[0] =
		        (struct cpl_run_communicator){7, e->ranks};
		r->n_communicators = 1;
		text_calls(e, r, line);
	}
	free(copy);
	return e;
}
