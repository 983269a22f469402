/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations of a job's ranks, made one by one from a signature when they
 * are asked for. In each execution of a phase a rank computes, for its own time
 * or the mean of all, then sends and receives all messages of the phase without
 * blocking and waits for them. Where the phase has rounds (signature/rounds.h),
 * it does so round by round.
 */
#pragma once

#include "graph/comm.h"
#include "signature/signature.h"

enum cpl_op_kind {
	CPL_OP_PHASE,   /* the phase `peer` begins */
	CPL_OP_COMPUTE, /* for `amount` seconds */
	CPL_OP_SEND,    /* `count` messages of `amount` bytes together */
	CPL_OP_RECEIVE, /* from rank `peer`, in the order in which it sends */
	CPL_OP_WAIT,    /* for all that was sent and received */
	CPL_OP_END,
	/* Only traces have these. */
	CPL_OP_REQUEST,     /* operations with CPL_OP_LATER up to the next one
	                     * belong to it */
	CPL_OP_WAIT_OLDEST, /* for the oldest request */
	CPL_OP_WAIT_ALL,    /* for all requests, and what CPL_OP_WAIT is for */
	CPL_OP_GET,         /* as CPL_OP_SEND from `peer`, which takes no
	                     * part */
};

enum cpl_op_flags {
	CPL_OP_LATER = 1,       /* it belongs to the last request, not to
	                         * CPL_OP_WAIT */
	CPL_OP_SYNCHRONOUS = 2, /* a send that waits for its receive */
	CPL_OP_BUFFERED = 4,    /* a send that nobody waits for */
	CPL_OP_ALONE = 8,       /* a send without a receive */
	CPL_OP_EAGER = 16,      /* a send that does not wait for its receive */
};

/* The source of a receive that takes whichever message comes first. */
#define CPL_OP_ANY (-1)

struct cpl_op {
	enum cpl_op_kind kind;
	int peer;
	double amount, count;
	unsigned flags;
	int context; /* sends meet receives of the same context; 0: point to
	              * point */
};

/* How far a rank is in its program; starts as {0}. */
struct cpl_op_cursor {
	int phase, execution, stage;
	int64_t round, entry;
};

/* The messages of a phase without rounds: comm by sender, and the senders to
 * each rank in from[row[r]] .. from[row[r + 1] - 1]. */
struct cpl_program_phase {
	const struct cpl_phase *of;
	int executions;
	int64_t rounds;
	const struct cpl_comm *comm;
	struct cpl_comm *own; /* comm, where the phase had none */
	int64_t *row;
	int *from;
};

struct cpl_program {
	int ranks, n_phases;
	struct cpl_program_phase *phase;
};

/* Opens a phase, or with NULL all. A phase runs ceil(weight) times, at most
 * `executions`. Returns 0, or -1 with err (memory, no phase of that name, a
 * pattern too large to be stored), in O(entries); use cpl_program_free in
 * either case. */
int cpl_program_init(struct cpl_program *program,
                     const struct cpl_signature *sig, const char *phase,
                     int executions, struct cpl_error *err);
void cpl_program_free(struct cpl_program *program);

/* The rank's next operation, CPL_OP_END after the last one. O(log ranks). */
struct cpl_op cpl_program_next(const struct cpl_program *program, int rank,
                               struct cpl_op_cursor *cursor);
