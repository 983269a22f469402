/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is what the recorder keeps of a run's MPI calls, see commplace-events(5).
 * For each rank these are its totals, the kinds of its events, and their sequence
 * as a tree of loops in the order of the run. Nothing in a file is trusted.
 *
 * To replay a rank, walk its nodes. A loop's body is repeated rounds / entries
 * times (mean). An event of kind k computes for compute / count seconds and then
 * calls functions[k.function]. It sends messages / events messages of bytes /
 * messages each to every peer of its messages (inward: the peer sends them to it,
 * one-sided), and it waits if it is a receive (k.source, -1: any), a wait or a
 * collective. Receives take what the source sent on that communicator in order.
 * Collectives are stored as the messages of the recorder's algorithms (trees-1);
 * the n-th collective event on a communicator is the same one on all its members.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* These are all messages between a rank and a peer. */
struct cpl_run_messages {
	int peer;
	bool inward; /* the peer sends */
	double bytes, messages;
};

struct cpl_run_communicator {
	uint64_t hash; /* of its members; equal on all of them */
	int size;
};

/* The recorder took these calls for the same. */
struct cpl_run_kind {
	int function;     /* of cpl_run_events */
	int communicator; /* number + 1; 0: none, or not known */
	int source;       /* of a receive; -1: any, or no receive */
	double bytes;     /* of the first: of its messages, else of its buffer */
	double events;
	int64_t first; /* messages of all events: first .. first + n - 1 */
	int n;
};

/* This is a loop, followed by its body, or events of one kind. */
struct cpl_run_node {
	int kind; /* -1: a loop */
	int size; /* nodes, itself included */
	union {
		struct { /* sums of all that happened here; times in seconds */
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
	double time, mpi_time; /* seconds of recording, and those in MPI */
	double lost;           /* messages lost for want of memory */
	int ended; /* 0: MPI_Finalize; a signal's number; -1: exit without it */
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
	/* The place of these events is not known, since the memory for the sequence
	 * was full. */
	struct cpl_run_node *unordered;
	int64_t n_unordered;
};

struct cpl_run_events {
	int ranks; /* of the run; some may be missing */
	const char *tool; /* where it comes from; NULL: the recorder */
	char *application, *mpi, *command, *date;
	char **function; /* names without MPI_ */
	int n_functions;
	struct cpl_run_rank *rank; /* [n], by increasing rank */
	int n;
};

/* This reads a file, or the parts of one run (n of them, of the same ranks and
 * functions). It returns NULL with err "FILE: what, at byte N". Free the result
 * with cpl_run_events_free. It costs O(bytes); memory is at most some 40 times that
 * (20 times for ranks with events). */
struct cpl_run_events *cpl_run_events_read(const char *const *path, int n,
                                   struct cpl_error *err);
struct cpl_run_events *cpl_run_events_parse(const void *data, size_t length,
                                    const char *name, struct cpl_error *err);
void cpl_run_events_free(struct cpl_run_events *events);
/* The number of ranks that are missing, or ended without MPI_Finalize. */
int cpl_run_events_incomplete(const struct cpl_run_events *events);
/* This writes the parts of a run, which were read, as one file. It returns 0, or -1
 * with err. */
int cpl_run_events_join(const char *const *path, int n, const char *to,
                        struct cpl_error *err);
