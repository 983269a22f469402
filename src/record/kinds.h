/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of one kind are calls that are taken for the same. Two calls are of one
 * kind when they are of the same function on the same communicator with the same
 * source, when their messages go to the same ranks, and when their bytes differ
 * from the kind's first by no more than a quarter of the larger. Of several such
 * kinds the nearest is taken, and of equally near ones the oldest. This file needs
 * no MPI.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fold.h"

/* These bound the memory. An event that comes later gets its function's own kind
 * without messages: its bytes are in the rank's totals, but in no phase. */
#define REC_KINDS_MAX 16384
#define REC_KIND_MESSAGES_MAX (1 << 20)

/* This is the hash of a list and one more value; REC_HASH is that of an empty
 * list. */
#define REC_HASH UINT64_C(1)
static inline uint64_t rec_hash(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

#define REC_NO_RANK (-1) /* also MPI_ANY_SOURCE, or a rank of another world */

/* These are messages to one rank (inward: from it), of all events of the kind. */
struct rec_kind_message {
	int32_t peer;
	bool inward;
	uint64_t bytes, messages;
};

struct rec_kind {
	uint16_t function, communicator;
	int32_t source; /* of a receive, or REC_NO_RANK */
	/* These are the bytes of the first event: of all its messages, or else of
	 * its buffer. */
	uint64_t bytes;
	uint64_t hash;
	uint64_t events;
	uint32_t first, n; /* messages */
	uint32_t next;     /* next kind of the same hash */
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

/* This returns 0, or -1 when memory is out; call rec_kinds_free in either case. */
int rec_kinds_init(struct rec_kinds *k, uint32_t functions);
void rec_kinds_free(struct rec_kinds *k);

/* This is an event as it happened. Without messages, bytes are those of its
 * buffer. */
struct rec_event {
	uint16_t function, communicator;
	int32_t source;
	uint64_t bytes;
	const struct rec_kind_message *message;
	uint32_t n;
};

/* This returns the kind of an event, which is made if there is none, and adds up
 * its messages there. It returns REC_FOLD_NONE when memory is out. It costs
 * O(messages). */
uint32_t rec_kinds_find(struct rec_kinds *k, const struct rec_event *e);
