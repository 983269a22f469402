/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations for the files of a trace. */
#pragma once

#include "simulate/trace.h"

enum trace_shape {
	TRACE_NOTHING,
	TRACE_POINT,
	TRACE_WAIT_OLDEST,
	TRACE_WAIT_ALL,
	TRACE_ONE_SIDED,
	TRACE_WAIT_ONE_SIDED,
	/* Collective calls by rounds, receives before sends, or at once. */
	TRACE_ROUNDS,
	TRACE_THROUGH,
	TRACE_AT_ONCE,
};

/* Whether a receive without a source is from any rank or from none. */
enum trace_any { TRACE_NONE, TRACE_ANY, TRACE_PERHAPS_ANY };

/* What a function does. */
struct trace_call {
	const char *name;
	enum trace_shape shape;
	unsigned flags; /* of its sends */
	enum trace_any any;
	bool later; /* it does not wait */
	bool each;  /* and it has a request for each message */
};

/* The position of a rank in its tree of loops. */
#define TRACE_DEPTH 66

struct trace_cursor {
	const struct cpl_run_rank *of;
	int depth;
	struct trace_frame {
		int64_t begin, end, at; /* nodes */
		double rounds;          /* rounds left, with this one */
	} frame[TRACE_DEPTH];
	/* [nodes] Entries of each loop so far; NULL: all are alike. */
	double *entered;
};

/* The kinds of a rank's next collective calls on one communicator. */
struct trace_queue {
	int *kind;
	int64_t first, n;
};

/* Messages to a rank in a collective operation: `count` of them, from this
 * round of the sender on. */
struct trace_incoming {
	int from, round, count;
};

/* The senders to each rank in a collective operation. */
struct trace_pattern {
	int held;  /* by operations under way, and if it is in `recent` */
	int *kind; /* [members] */
	bool at_once;
	int64_t *row; /* [members + 1] of in */
	struct trace_incoming *in;
};

#define TRACE_RECENT 4

struct trace_communicator {
	int size, n;
	int *member; /* [n] ranks, increasing */
	int *number; /* [n] its number among a member's communicators */
	struct trace_pattern *recent[TRACE_RECENT];
	int oldest; /* in recent */
	/* The operations from number `base` on; all members are through with
	 * the first `first` of them. */
	struct trace_pattern **live;
	int *left; /* members that are not through */
	int64_t base, first, n_live;
};

enum trace_stage {
	TRACE_BEGIN,
	TRACE_CALL,
	TRACE_ENTER,
	TRACE_OPERATIONS,
	TRACE_TAIL,
	TRACE_FINALIZE,
	TRACE_END
};

struct trace_rank {
	const struct cpl_run_rank *of;
	struct trace_cursor walk, scout; /* scout runs ahead for queues */
	int *global;                   /* [communicators] in trace */
	struct trace_queue *queue;     /* [communicators] */
	int64_t *passed;               /* [communicators] operations done */
	bool takes_any;                /* in calls that surely do */
	bool perhaps_any;              /* calls that may do it do, too */
	bool loose;                    /* sends to it wait for no receive */
	double tail;                   /* seconds after the last call */
	/* The call at hand. */
	enum trace_stage stage;
	const struct cpl_run_node *node;
	int64_t calls, item;
	int round, rounds, before;
	/* 1 in an Allreduce of ranks that are no power of two, where this rank
	 * first receives the data that it stands in with for its last peer. */
	int shift;
	const struct trace_pattern *pattern; /* of a collective call */
	int64_t in, n_in;                    /* the rank's messages in
	                                      * pattern->in */
};

/* The messages that receives from any may take. */
struct trace_pair {
	int to, from;
	double n;
};

struct cpl_trace {
	const struct cpl_run_events *events;
	struct trace_call *call; /* [functions] */
	int n_ranks;
	struct trace_rank *rank;
	int n_communicators;
	struct trace_communicator *communicator;
	struct trace_pair *pair; /* by to, from */
	int64_t n_pairs;
};

static inline const struct cpl_run_kind *
trace_kind(const struct trace_rank *r)
{
	return &r->of->kind[r->node->kind];
}

static inline const struct trace_call *
trace_call_of(const struct cpl_trace *trace, const struct cpl_run_kind *kind)
{
	return &trace->call[kind->function];
}

/* The messages of an entry in one event. */
int trace_count(const struct cpl_run_kind *kind,
                const struct cpl_run_messages *m);

/* From trace_calls.c: what the function of that name does. */
struct trace_call trace_find_call(const char *name);
/* May any rank send to the receive of this kind? */
bool trace_from_any(const struct trace_call *call,
                    const struct cpl_run_kind *kind);
/* The next operation of the call at hand. False: it is over. */
bool trace_operation(const struct cpl_trace *trace, struct trace_rank *r,
                     struct cpl_op *op);

/* From trace_walk.c. Goes before the first event. Returns 0, or -1 with err
 * (memory); free walk->entered in either case. */
int trace_cursor_open(struct trace_cursor *walk, const struct cpl_run_rank *of,
                    struct cpl_error *err);
/* The next event, or NULL after the last. */
const struct cpl_run_node *trace_step(struct trace_cursor *walk);

/* From trace_communicators.c. Returns 0, or -1 with err. */
int trace_communicators(struct cpl_trace *trace, struct cpl_error *err);
void trace_communicators_free(struct cpl_trace *trace);
bool trace_collective(const struct cpl_trace *trace,
                      const struct cpl_run_rank *rank,
                      const struct cpl_run_kind *kind);
/* The position of a rank among the members, or -1. O(log members). */
int trace_member_of(const struct trace_communicator *c, int rank);
/* Gives up one hold of p, which may be NULL. */
void trace_let_go(struct trace_pattern *p);

/* From trace_collectives.c: the rank comes to a collective call, which sets
 * r->pattern and what it receives. */
int trace_enter(struct cpl_trace *trace, int rank, struct cpl_error *err);
void trace_leave(struct cpl_trace *trace, int rank);
