/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kinds of events: calls that are taken for the same. Two calls are of one kind
 * when they are of the same function on the same communicator, with the same
 * source, their messages go to the same ranks, and their bytes differ by no
 * more than a quarter of the larger from the kind's first; of several such kinds
 * it is the nearest, of equally near ones the oldest. No MPI.
 */
#ifndef CPL_RECORD_KINDS_H
#define CPL_RECORD_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "fold.h"

/* Bounds of memory. What comes later is of its function's own kind without
 * messages: its bytes are in the rank's totals, but in no phase. */
#define REC_KINDS_MAX 16384
#define REC_KIND_MESSAGES_MAX (1 << 20)

/* The hash of a list and one value more; REC_HASH that of none. */
#define REC_HASH UINT64_C(1)
static inline uint64_t rec_hash(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

#define REC_NO_RANK (-1) /* also: MPI_ANY_SOURCE, or of another world */

/* Messages to one rank (inward: from it), of all events of the kind. */
struct rec_kind_message {
	int32_t peer;
	bool inward;
	uint64_t bytes, messages;
};

struct rec_kind {
	uint16_t function, communicator;
	int32_t source; /* of a receive, or REC_NO_RANK */
	uint64_t bytes; /* of the first event: all its messages', else its
	                   buffer's */
	uint64_t hash;
	uint64_t events;
	uint32_t first, n; /* messages */
	uint32_t next;     /* of the same hash */
	struct rec_amount unordered; /* of events that fold dropped */
};

struct rec_kinds {
	struct rec_kind *kind;
	struct rec_kind_message *message;
	uint32_t n, n_messages;
	uint32_t *head;  /* [buckets] */
	uint32_t *other; /* [functions]: kinds beyond the bound */
	uint32_t functions;
};

/* 0, or -1: no memory. rec_kinds_free in either case. */
int rec_kinds_init(struct rec_kinds *k, uint32_t functions);
void rec_kinds_free(struct rec_kinds *k);

/* An event as it happened; bytes without messages are its buffer's. */
struct rec_event {
	uint16_t function, communicator;
	int32_t source;
	uint64_t bytes;
	const struct rec_kind_message *message;
	uint32_t n;
};

/*
 * The kind of an event, made where there is none, with its messages added up
 * there. REC_FOLD_NONE: no memory. O(messages).
 */
uint32_t rec_kinds_find(struct rec_kinds *k, const struct rec_event *e);

#endif
