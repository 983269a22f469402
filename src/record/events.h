/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rank's MPI calls are kept as a sequence of events of kinds (kinds.h), which is
 * folded (fold.h). An event is a call that succeeded. It begins with computation,
 * when the call before it ended. It calls that poll (MPI_Test, MPI_Iprobe, ...) and
 * follow one another are one event, since their number is chance. This file needs
 * no MPI, and is for one thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fold.h"
#include "kinds.h"

/* So many communicators are told apart; those beyond are number 0. */
#define REC_COMMUNICATORS_MAX 4096

/* This is equal on all members; communicators of one group have the same hash. */
struct rec_communicator {
	uint64_t hash; /* of the members' world ranks in order */
	uint32_t size;
};

struct rec_events {
	struct rec_kinds kinds;
	struct rec_fold *fold;
	struct rec_communicator *communicator; /* [n], from number 1 on */
	uint32_t n_communicators;
	/* This is the call under way. */
	struct rec_event now;
	struct rec_kind_message *message; /* of now */
	uint32_t capacity;
	/* This is the last poll, as long as more polls may join it. */
	uint32_t pending; /* its kind, REC_FOLD_NONE if there is none */
	bool pending_polls;
	struct rec_amount amount;
	int64_t end;   /* of the last call, ns */
	uint64_t lost; /* events without a kind for want of memory */
};

/* functions is their number, and nodes is REC_FOLD_NODES except in tests. This
 * returns 0, or -1 when memory is out; call rec_events_free in either case. */
int rec_events_init(struct rec_events *e, uint32_t functions, uint32_t nodes);
void rec_events_free(struct rec_events *e);

/* This returns the number of a communicator, or 0 if there are too many. */
uint16_t rec_events_communicator(struct rec_events *e, uint64_t hash,
                                 uint32_t size);

/* These tell of the call under way: a message; its communicator; a receive's source
 * and its buffer. */
void rec_events_message(struct rec_events *e, int peer, bool inward,
                        uint64_t bytes, uint64_t messages);
void rec_events_on(struct rec_events *e, uint16_t communicator);
void rec_events_from(struct rec_events *e, int source, uint64_t bytes);

/* Time begins here, and again when recording is switched on after it was off. */
void rec_events_begin(struct rec_events *e, int64_t now);

/* This is called when the call ended. */
void rec_events_end(struct rec_events *e, uint16_t function, bool polls,
                    int64_t start, int64_t end);

/* This appends the last event; no more may follow. */
void rec_events_finish(struct rec_events *e);
