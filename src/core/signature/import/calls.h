/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of MPI's collective operations that a tool tells of, as the messages of
 * stated algorithms (pattern/collective.c): trees from and to the root, an
 * all-gather round the ring, everyone to everyone else in all-to-all and
 * reduce-scatter, recursive doubling in an all-reduce of a power of two, else
 * the ring; scans go from rank to rank. Each rank's call tells what that rank
 * sends. Messages of no bytes, barriers among them, are none.
 */
#ifndef CPL_SIGNATURE_IMPORT_CALLS_H
#define CPL_SIGNATURE_IMPORT_CALLS_H

#include <stdbool.h>

#include "signature/import/import_internal.h"

enum import_operation {
	IMPORT_BROADCAST, /* bytes: the whole vector */
	IMPORT_REDUCE,
	IMPORT_ALLREDUCE,
	IMPORT_REDUCE_SCATTER,
	IMPORT_SCAN,
	IMPORT_GATHER, /* bytes: a rank's block */
	IMPORT_SCATTER,
	IMPORT_ALLGATHER,
	IMPORT_ALLTOALL,
	IMPORT_BARRIER,
};

struct import_name {
	const char *name;
	enum import_operation operation;
	bool vector; /* a count for each rank: allgatherv */
};

/* Of "MPI_Allreduce", "Iallreduce", "AllReduce" and the like, upper and lower
 * case alike; NULL: no collective operation. */
const struct import_name *import_collective(const char *mpi);
/* Does a function of that name send to one rank? */
bool import_sends(const char *mpi);

/*
 * How much a rank of n sends its next one round NCCL's ring, per byte of a
 * collective's size (all-gather, reduce-scatter: of a rank's block), and in how
 * many messages. False: it does not go round.
 */
bool import_ring(enum import_operation operation, int n, double *factor,
                 double *messages);

/* Who takes part. */
struct import_group {
	int n;
	const int *rank; /* [n]; NULL: rank i is i */
};

/* `calls` calls by a rank. */
struct import_call {
	int group;
	enum import_operation operation;
	int root, rank; /* places in the group */
	double bytes;   /* of all calls together */
	double calls;
};

/* Zero-initialise; free(call). */
struct import_calls {
	struct import_call *call;
	int64_t n;
};

/* Add one behind the others. 0, or -1 with err (memory). O(1), in the mean. */
int import_call_push(struct import_calls *calls, const struct import_call *call,
                     struct cpl_error *err);

/* Add up what one rank called with the same ranks. O(calls log calls). */
void import_calls_merge(struct import_calls *calls);

/* The place of a rank in its group, whose ranks increase, or -1. O(log n). */
int import_group_rank(const struct import_group *group, int rank);

/*
 * Put the messages of all calls (which are sorted by that) behind those of the
 * list. 0, or -1 with err: memory, or more messages than a matrix of 11,000
 * ranks has pairs. O(calls log calls + messages).
 */
int import_calls_expand(struct import_calls *calls,
                        const struct import_group *group,
                        struct entry_list *out, struct cpl_error *err);

#endif
