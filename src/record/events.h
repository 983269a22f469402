/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sequence of a rank's MPI calls as events of kinds (kinds.h), folded
 * (fold.h). An event is a call that succeeded; it begins when the call before
 * it ended, with computation. Calls that poll (MPI_Test, MPI_Iprobe, ...) and
 * come one after another are one event, since their number is chance. No MPI;
 * for one thread.
 */
#ifndef CPL_RECORD_EVENTS_H
#define CPL_RECORD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "fold.h"
#include "kinds.h"

/* Communicators that are told apart; those beyond are number 0. */
#define REC_COMMUNICATORS_MAX 4096

/* Equal on all members: those of one group have the same hash. */
struct rec_communicator {
	uint64_t hash; /* of the members' world ranks in order */
	uint32_t size;
};

struct rec_events {
	struct rec_kinds kinds;
	struct rec_fold *fold;
	struct rec_communicator *communicator; /* [n], from number 1 on */
	uint32_t n_communicators;
	/* the call under way */
	struct rec_event now;
	struct rec_kind_message *message; /* of now */
	uint32_t capacity;
	/* the last one, as long as more polls may join it */
	uint32_t pending; /* its kind, REC_FOLD_NONE: there is none */
	bool pending_polls;
	struct rec_amount amount;
	int64_t end;   /* of the last call, ns */
	uint64_t lost; /* events without a kind: memory was out */
};

/* functions: how many there are. 0, or -1: no memory; rec_events_free in either
 * case. nodes: REC_FOLD_NODES but in tests. */
int rec_events_init(struct rec_events *e, uint32_t functions, uint32_t nodes);
void rec_events_free(struct rec_events *e);

/* The number of a communicator; 0: too many. */
uint16_t rec_events_communicator(struct rec_events *e, uint64_t hash,
                                 uint32_t size);

/* Of the call under way: a message; its communicator; a receive's source and
 * its buffer. */
void rec_events_message(struct rec_events *e, int peer, bool inward,
                        uint64_t bytes, uint64_t messages);
void rec_events_on(struct rec_events *e, uint16_t communicator);
void rec_events_from(struct rec_events *e, int source, uint64_t bytes);

/* Time begins here, and again where recording was switched off and on. */
void rec_events_begin(struct rec_events *e, int64_t now);

/* The call ended. */
void rec_events_end(struct rec_events *e, uint16_t function, bool polls,
                    int64_t start, int64_t end);

/* No more events: the last one is appended. */
void rec_events_finish(struct rec_events *e);

#endif
