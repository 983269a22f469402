/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs whose calls are known, through the recorder's own code into a file of events
 * in memory. */
#pragma once

#include "record/section.h"

#define RANKS_OF_TEST 5

/* A file in memory. */
struct bytes {
	unsigned char *data;
	size_t n;
};

static inline int gather(struct rec_sink *s)
{
	struct bytes *b = s->arg;

	b->data = realloc(b->data, b->n + s->used);
	memcpy(b->data + b->n, s->buffer, s->used);
	b->n += s->used;
	return 0;
}

enum { SEND, RECV, ALLREDUCE, TEST, FUNCTIONS };
static const char *const name_of[] = {"Send", "Recv", "Allreduce", "Test"};

struct maker {
	struct bytes file;
	struct rec_events events;
	struct rec_table out, in;
	int rank;
	int64_t now, in_calls;
	int slow; /* this rank and those behind it compute three times as long */
	double noise; /* computation scatters by this part of it */
	uint32_t chance, steps;
};

static inline double random_part(struct maker *m)
{
	m->chance = m->chance * 1664525 + 1013904223;
	return m->chance / 4294967296.0;
}

static inline void call(struct maker *m, int function, int peer, uint64_t bytes,
                        int64_t compute, int64_t duration)
{
	rec_events_on(&m->events,
	              rec_events_communicator(&m->events, 77, RANKS_OF_TEST));
	if (function == RECV) {
		rec_events_from(&m->events, peer, bytes);
	} else if (peer >= 0) {
		rec_events_message(&m->events, peer, false, bytes, 1);
		rec_table_add(&m->out, peer, bytes, 1);
	}
	m->now += compute * (m->slow && m->rank >= m->slow ? 3 : 1);
	m->now += (int64_t)(m->noise * (2 * random_part(m) - 1) *
	                    (double)compute);
	rec_events_end(&m->events, (uint16_t)function, function == TEST, m->now,
	               m->now + duration);
	m->now += duration;
	m->in_calls += duration;
}

/* The calls of a rank: init, `steps` of a halo and ten reductions, of which the
 * later half compute `later` times as long. */
static inline void play(struct maker *m, int steps, int later)
{
	int ranks = RANKS_OF_TEST;

	call(m, ALLREDUCE, (m->rank + 1) % ranks, 4, 5000, 1000);
	for (int s = 0; s < steps; s++) {
		/* sizes drift by a fifth; the last rank sends to one only */
		uint64_t bytes = 1000 + (uint64_t)(s * 200 / steps);

		if (m->rank < ranks - 1)
			call(m, SEND, m->rank + 1, bytes, 1000, 500);
		if (m->rank)
			call(m, SEND, m->rank - 1, bytes, 1000, 500);
		for (int poll = 0; poll <= s % 3; poll++)
			call(m, TEST, -1, 0, 0, 100);
		call(m, RECV, (m->rank + 1) % ranks, 4096, 0, 2000);
		for (int i = 0; i < 10; i++)
			call(m, ALLREDUCE, (m->rank + 1) % ranks, 8, 1000000,
			     1000);
	}
	for (int i = 0; i < 100; i++)
		call(m, ALLREDUCE, (m->rank + 1) % ranks, 8,
		     (int64_t)1000000 * later, 1000);
}

/* Halves of a pair, a master and its workers. */
static inline void act_as(struct maker *m, char role)
{
	if (role == 'p' && m->rank % 2)
		call(m, RECV, m->rank - 1, 30000, 0, 1500000);
	else if (role == 'p')
		call(m, SEND, (m->rank + 1) % RANKS_OF_TEST, 30000, 1000000,
		     500000);
	else if (m->rank)
		call(m, SEND, 0, 2000, 1000000, 1000000);
	for (int r = 1; role == 'm' && !m->rank && r < RANKS_OF_TEST; r++)
		call(m, RECV, r, 2000, 0, 500000);
}

/* "i(hra)30": a long set-up, thirty rounds of a send, a receive and a reduction.
 * "(a)8~": eight rounds, or one or two more or fewer. */
static inline const char *perform(struct maker *m, const char *program)
{
	int next = (m->rank + 1) % RANKS_OF_TEST;
	const char *c = program;

	for (; *c && *c != ')'; c++)
		switch (*c) {
		case 'i':
			call(m, ALLREDUCE, next, 4, 100000000, 1000);
			break;
		case 'I': /* the call is one of the steps, too */
			call(m, ALLREDUCE, next, 8, 100000000, 1000);
			break;
		case 'h':
			call(m, SEND, next, 1000, 1000000, 500);
			break;
		case 'r':
			call(m, RECV, next, 4096, 0, 2000);
			break;
		case 'a':
			call(m, ALLREDUCE, next, 8, 1000000, 1000);
			break;
		case 'g':
			call(m, SEND, 0, 50000, 3000000, 5000);
			break;
		case 'b': /* a table of the start */
			call(m, SEND, next, 400000, 1000000, 5000);
			break;
		case 'z': /* a result of the end */
			call(m, SEND, next, 7, 3000000, 5000);
			break;
		case 'm':
		case 'p':
			act_as(m, *c);
			break;
		case 'v': /* neighbours change, each fifth step */
			call(m, SEND, next,
			     1000 + 500 * (m->steps++ / 5 * 37 % 11), 1000000,
			     500);
			break;
		case 'd': /* the slowest rank is another each time */
			call(m, SEND, next, 1000,
			     m->steps++ / 4 % RANKS_OF_TEST == (uint32_t)m->rank
			             ? 3000000
			             : 1000000,
			     500);
			break;
		case '(': {
			const char *end = perform(m, c + 1);
			char *behind;
			long rounds = strtol(end + 1, &behind, 10);

			if (*behind == '~') {
				rounds += (long)(m->steps++ * 7 % 5) - 2;
				behind++;
			}
			for (long i = 1; i < rounds; i++)
				perform(m, c + 1);
			c = behind - 1;
			break;
		}
		default:
			fail_msg("%c", *c);
		}
	return c;
}

/* Of a program, or of steps as above. */
static inline struct bytes make_file_of(const char *program, int steps,
                                        int later, int slow, double noise)
{
	unsigned char buffer[256];
	struct bytes file = {0};
	struct rec_sink sink = {.buffer = buffer,
	                        .size = sizeof(buffer),
	                        .flush = gather,
	                        .arg = &file};
	struct rec_head head = {RANKS_OF_TEST, FUNCTIONS, name_of, "app",
	                        "mpi", "app -x", "today"};

	rec_head_write(&sink, &head);
	for (int r = 0; r < RANKS_OF_TEST; r++) {
		struct maker m = {.rank = r,
		                  .slow = slow,
		                  .noise = noise,
		                  .chance = (uint32_t)(r + 7 * strlen(
		                                  program ? program : ""))};
		struct rec_section section = {.rank = r};

		assert_int_equal(
		        rec_events_init(&m.events, FUNCTIONS, 4096), 0);
		assert_int_equal(rec_table_init(&m.out, RANKS_OF_TEST, 64), 0);
		rec_events_begin(&m.events, 0);
		if (program)
			perform(&m, program);
		else
			play(&m, steps, later);
		rec_events_finish(&m.events);
		/* a call that no event tells of */
		rec_table_add(&m.out, (r + 2) % RANKS_OF_TEST, 50, 1);
		section.out = &m.out;
		section.in = &m.in;
		section.events = &m.events;
		section.time = (uint64_t)m.now;
		section.mpi_time = (uint64_t)m.in_calls;
		rec_section_write(&sink, &section);
		rec_events_free(&m.events);
		rec_table_free(&m.out);
	}
	return file;
}
