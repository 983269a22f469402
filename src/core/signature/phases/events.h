/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recorder keeps of a run's MPI calls: commplace-events(5). For each
 * rank its totals, the kinds of events that it had, and their sequence as a
 * tree of loops, in the order of the run. Nothing in a file is trusted.
 *
 * To replay a rank, walk its nodes: a loop's body is repeated rounds / entries
 * times (mean), an event of kind k computes for compute / count seconds and then
 * calls functions[k.function]; it sends messages / events messages of
 * bytes / messages each to every peer of its messages (inward: the peer sends
 * them to it, one-sided), and waits where it is a receive (k.source, -1: any), a
 * wait or a collective. Receives take what the source sent on that communicator
 * in order. Collectives come as the messages of the recorder's algorithms
 * (trees-1); the n-th collective event on a communicator is the same one on all
 * its members.
 */
#ifndef CPL_SIGNATURE_PHASES_EVENTS_H
#define CPL_SIGNATURE_PHASES_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Messages between a rank and a peer, together. */
struct cpl_run_messages {
	int peer;
	bool inward; /* the peer sends */
	double bytes, messages;
};

struct cpl_run_communicator {
	uint64_t hash; /* of its members; equal on all of them */
	int size;
};

/* Calls that the recorder took for the same. */
struct cpl_run_kind {
	int function;     /* of cpl_run_events */
	int communicator; /* number + 1; 0: none, or not told apart */
	int source;       /* of a receive; -1: any, or no receive */
	double bytes;     /* of the first: its messages', else its buffer's */
	double events;
	int64_t first; /* messages of all events: first .. first + n - 1 */
	int n;
};

/* A loop, followed by its body; or events of one kind. */
struct cpl_run_node {
	int kind; /* -1: a loop */
	int size; /* nodes, itself included */
	union {
		struct { /* all that happened here; times in seconds */
			double count, bytes;
			double compute;  /* since the call before */
			double duration; /* in the call */
		};
		struct {
			double entries, rounds; /* rounds of all entries */
		};
	};
};

struct cpl_run_rank {
	int rank;
	double time, mpi_time; /* seconds of recording, of them in MPI */
	double lost;           /* messages without memory */
	int ended; /* 0: MPI_Finalize; a signal's number; -1: exit without */
	struct cpl_run_messages *total; /* [n_total]: all of the run */
	int64_t n_total;
	bool has_events; /* else there is nothing below */
	struct cpl_run_communicator *communicator;
	int n_communicators;
	struct cpl_run_kind *kind;
	int n_kinds;
	struct cpl_run_messages *message;
	int64_t n_messages;
	struct cpl_run_node *node; /* all loops and events, in preorder */
	int64_t n_nodes;
	/* Events whose place is not known: the memory for the sequence was full.
	 */
	struct cpl_run_node *unordered;
	int64_t n_unordered;
};

struct cpl_run_events {
	int ranks; /* of the run; not all need be there */
	const char *tool; /* that told of it; NULL: the recorder */
	char *application, *mpi, *command, *date;
	char **function; /* names without MPI_ */
	int n_functions;
	struct cpl_run_rank *rank; /* [n], by increasing rank */
	int n;
};

/*
 * Read a file, or the parts of one run (n of them, of the same ranks and
 * functions). NULL with err "FILE: what, at byte N". Free with
 * cpl_run_events_free. O(bytes), memory at most some 40 times that (of ranks
 * without events; else 20).
 */
struct cpl_run_events *cpl_run_events_read(const char *const *path, int n,
                                   struct cpl_error *err);
struct cpl_run_events *cpl_run_events_parse(const void *data, size_t length,
                                    const char *name, struct cpl_error *err);
void cpl_run_events_free(struct cpl_run_events *events);

#endif
