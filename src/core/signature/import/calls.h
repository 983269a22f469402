/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This turns the calls of MPI's collective operations that a tool tells of into the
 * messages of stated algorithms (pattern/collective.c): trees from and to the root,
 * an all-gather round the ring, everyone to everyone else in all-to-all and
 * reduce-scatter, recursive doubling in an all-reduce of a power of two, else the
 * ring; scans go from rank to rank. Each rank's call tells what that rank sends.
 * Messages without bytes, as in barriers, do not count.
 */
#pragma once

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
	bool vector; /* with a count for each rank: allgatherv */
};

/* This finds "MPI_Allreduce", "Iallreduce", "AllReduce" and the like in upper or
 * lower case, or returns NULL if it is no collective operation. */
const struct import_name *import_collective(const char *mpi);
/* This says whether a function of that name sends to one rank. */
bool import_sends(const char *mpi);

/* This tells how much a rank of n sends to the next one round NCCL's ring, per byte
 * of a collective's size (of a rank's block for all-gather and reduce-scatter), and
 * in how many messages. It returns false if the operation does not go round. */
bool import_ring(enum import_operation operation, int n, double *factor,
                 double *messages);

/* These ranks take part. */
struct import_group {
	int n;
	const int *rank; /* [n]; NULL: rank i is i */
};

/* These are `calls` calls by a rank. */
struct import_call {
	int group;
	enum import_operation operation;
	int root, rank; /* places in the group */
	double bytes;   /* of all calls together */
	double calls;
};

/* Zero-initialise this; free(call). */
struct import_calls {
	struct import_call *call;
	int64_t n;
};

/* This adds a call behind the others. It returns 0, or -1 with err when memory is
 * out. It costs O(1) in the mean. */
int import_call_push(struct import_calls *calls, const struct import_call *call,
                     struct cpl_error *err);

/* This returns the place of a rank in its group, whose ranks increase, or -1. It
 * costs O(log n). */
int import_group_rank(const struct import_group *group, int rank);

/* This sorts the calls, and puts the messages of all of them behind those of the
 * list. It returns 0, or -1 with err when memory is out, or there are more messages
 * than a matrix of 11,000 ranks has pairs. It costs O(calls log calls + messages). */
int import_calls_expand(struct import_calls *calls,
                        const struct import_group *group,
                        struct entry_list *out, struct cpl_error *err);
