/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MPI calls of a recorded run (signature/phases/events.h) as operations of
 * its ranks, one after the other. A rank computes for as long as it did before
 * each call (the mean for folded calls), then does what the call did:
 *
 * - Sends and receives meet in their order for two ranks, whatever their tags.
 *   A receive from any rank takes the first message to come that no other
 *   receive needs. Blocking calls wait for their own messages.
 * - Wait, Waitany and Waitsome are for the oldest request, Waitall for all.
 *   Calls that test or probe wait for nothing. MPI_Finalize waits for all.
 * - The n-th collective calls on a communicator are one operation. A rank waits
 *   for the messages of each round of Barrier, Allreduce and Allgather, for all
 *   that it gets before it sends in trees and chains (Bcast, Reduce, Gather,
 *   Scatter, Scan), and in others and non-blocking ones at the end only.
 * - One-sided messages need no call of the other rank; the sender's next
 *   synchronisation waits for them.
 *
 * The file does not tell the receives of persistent requests that are started
 * several at once. Sends to a rank that has such go without waiting for them.
 */
#pragma once

#include "signature/phases/events.h"
#include "simulate/program.h"

struct cpl_trace;

/* The calls, messages and entries of loops of all ranks when they are replayed.
 * A few bytes may stand for any number of them, so look at it before a
 * simulation. O(events kept). */
double cpl_trace_size(const struct cpl_run_events *events);

/* The events must live as long. NULL with err: memory is out, a rank is
 * missing, or its calls or their order are. Free it with cpl_trace_free.
 * O(events kept * log). */
struct cpl_trace *cpl_trace_new(const struct cpl_run_events *events,
                                struct cpl_error *err);
void cpl_trace_free(struct cpl_trace *trace);

/* The rank's next operation. Returns 0, or -1 with err: memory, or other ranks
 * make other collective calls. O(1) amortised; a collective call takes
 * O(members) for all. */
int cpl_trace_next(struct cpl_trace *trace, int rank, struct cpl_op *op,
                   struct cpl_error *err);

/* Whether the rank receives from any. */
bool cpl_trace_takes_any(const struct cpl_trace *trace, int rank);
/* Whether such a receive of `to` may have the next message of `from`, which it
 * then has. O(log pairs). */
bool cpl_trace_give_any(struct cpl_trace *trace, int from, int to);

/* Writes text such as " in Recv, its call 7". */
void cpl_trace_where(const struct cpl_trace *trace, int rank, char *text,
                     size_t size);
