/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is the state of the recorder in one process, and what the wrappers call. A
 * wrapper calls the MPI library first and counts if that succeeded: the arguments
 * are then known to be valid, so counting cannot raise an MPI error. Whatever goes
 * wrong in here costs the profile, never the program. */
#pragma once

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "pmpi.h"

#define REC_EXPORT __attribute__((visibility("default")))

/* This counts the MPI calls of this thread that are under way, for calls inside
 * calls. */
extern _Thread_local int rec_depth;
/* Only the thread that called MPI_Init keeps the clocks. */
extern _Thread_local bool rec_keeps_time;
/* This is set between MPI_Init and MPI_Finalize (or sessions' first and last), unless MPI_Pcontrol stopped it. */
extern atomic_bool rec_on;
/* These are the nanoseconds in MPI calls, and when the last one ended. */
extern int64_t rec_mpi_time, rec_left;
/* This tells whether the sequence of calls is kept. */
extern bool rec_has_events;

static inline int64_t rec_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* These two are put around each call of the library. */
static inline int64_t rec_enter(void)
{
	if (rec_depth++ || !rec_keeps_time ||
	    !atomic_load_explicit(&rec_on, memory_order_relaxed))
		return 0;
	return rec_now();
}

/* This returns whether the call is to be counted. */
static inline bool rec_leave(int64_t start)
{
	if (start) {
		rec_left = rec_now();
		rec_mpi_time += rec_left - start;
	}
	return --rec_depth == 0 &&
	       atomic_load_explicit(&rec_on, memory_order_relaxed);
}

/* This calls are events only in the thread that keeps time. */
static inline bool rec_in_events(void)
{
	return rec_has_events && rec_keeps_time;
}

/* With the lock held, these tell of the event under way: its communicator; a
 * receive's source (a world rank, or below 0) and its buffer's bytes. */
struct rec_peers;
void rec_event_among(struct rec_peers *p);
void rec_event_from(int world, uint64_t bytes);
void rec_event_message(int world, bool inward, uint64_t bytes,
                       uint64_t messages);
/* The call that began at `start` was counted. */
void rec_event_end(int function, int64_t start);

static inline void rec_event(int function, int64_t start)
{
	if (start && rec_in_events())
		rec_event_end(function, start);
}

/* These are called after MPI_Init, before MPI_Finalize, and at MPI_Pcontrol(level).
 * They are collective. */
void rec_begin(void);
void rec_finish(void);
void rec_control(int level);

#if REC_SESSIONS
/*
 * Programs of MPI 4's sessions have no MPI_Init. These are called after
 * MPI_Session_init and before MPI_Session_finalize. Recording goes on while a session
 * is open (MPI_Init counts as one); ranks are those of mpi://WORLD. Each process opens
 * and closes sessions for itself, so no rank waits for another one here: when its last
 * session is closed each writes its part (rec_rank_file_write), which is written anew
 * when it has opened and closed more.
 */
void rec_session_begin(void);
void rec_session_end(void);
#endif

/* This adds traffic of this rank to (inward: from) a rank of MPI_COMM_WORLD, or
 * with REC_OUTSIDE of another world. The lock must be held. */
#define REC_OUTSIDE (-2)
void rec_add(int world, bool inward, uint64_t bytes, uint64_t messages);

/* This tells whether all ranks say yes; rank 0 decides for all. It is collective. */
bool rec_agree(bool mine);

/* This is called at MPI_Abort. */
void rec_abort(void);

/* rec_peers_* hold this on success. */
void rec_lock(void);
void rec_unlock(void);
