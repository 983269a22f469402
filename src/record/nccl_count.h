/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This counts what NCCL's events say, in cells of 64 bytes that are made at the first
 * event of their kind and live as long as the process: no event has memory of its
 * own. A handle that NCCL gets is the address of a cell with what it stands for in
 * its low bits, so a handle of whatever age, or one that was never ours, is told from
 * a good one, and a stop has nothing to do. No callback takes a lock, waits, or asks
 * for memory.
 *
 * What is counted how:
 *
 *   messages   a Send is bytes = count * size of the datatype, from its rank to its
 *              peer; a Receive is the sender's, and not counted again.
 *   network    a step of the proxy is one message of transSize bytes when its send is
 *              handed to the network. Receives are the other side's. Steps below a
 *              message and below a collective operation are kept apart, since the
 *              former are that message, sent in pieces.
 *   collective calls, bytes (count * size) and operations of the proxy that send,
 *              for each function, algorithm, protocol, number of channels and root.
 *
 * Calls and messages also go into a log in their order, as long as there is room,
 * for nccl_steps.h. nccl_join.h makes traffic between ranks of it. The memory is bounded: when it is
 * full, new kinds are dropped and counted. Threads: all but nccl_begin may be called
 * from any at any time.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nccl_api.h"

enum nccl_kind {
	NCCL_CELL_FREE, /* one that another thread has made, too */
	NCCL_CELL_COMMUNICATOR = 0x4e430001,
	NCCL_CELL_PAIR,
	NCCL_CELL_CALLS,
};

/* The sums of a pair: a rank and a peer. */
enum {
	NCCL_SENDS,
	NCCL_SENT,
	NCCL_P2P_STEPS,
	NCCL_P2P_BYTES,
	NCCL_OTHER_STEPS,
	NCCL_OTHER_BYTES,
	NCCL_SUMS
};
/* The sums of calls. */
enum { NCCL_CALLS, NCCL_CALLED, NCCL_OPERATIONS };

enum nccl_function {
	NCCL_NO_FUNCTION,
	NCCL_ALLGATHER,
	NCCL_ALLREDUCE,
	NCCL_ALLTOALL,
	NCCL_BROADCAST,
	NCCL_GATHER,
	NCCL_REDUCE,
	NCCL_REDUCE_SCATTER,
	NCCL_SCATTER,
	NCCL_FUNCTIONS
};

/* What an algorithm's traffic within a node looks like. */
enum nccl_shape {
	NCCL_RING,   /* RING, PAT and those that nobody knows */
	NCCL_CHAIN,  /* TREE, COLLNET_CHAIN: trees are chains within nodes */
	NCCL_DIRECT, /* NVLS, NVLS_TREE, COLLNET_DIRECT, copy engines */
	NCCL_SHAPES
};

/* The key of calls is made of these. */
struct nccl_call {
	uint8_t function, shape, channels;
	int32_t root; /* of Broadcast, Reduce, Gather and Scatter, else 0 */
};

struct nccl_communicator {
	uint64_t id;
	int32_t ranks, rank, nodes;
	int32_t thread; /* that called init */
	char name[16];  /* cut; "": none */
};

struct nccl_cell {
	_Atomic uint32_t kind;
	uint32_t communicator; /* its cell's number, or its own */
	union {
		struct nccl_communicator about;
		struct {
			uint64_t key; /* the peer, or of nccl_call_unpack */
			_Atomic uint64_t sum[NCCL_SUMS];
		};
	};
};
_Static_assert(sizeof(struct nccl_cell) == 64, "a line of a cache");

/* These were not counted, or not by this process. */
struct nccl_losses {
	_Atomic uint64_t full; /* the memory was: messages, steps, calls */
	_Atomic uint64_t full_bytes;
	_Atomic uint64_t refused; /* no name, no such rank, an absurd size */
	_Atomic uint64_t unknown; /* of a type that the version does not have */
	/* operations that another process called for, which counts its message, or
	 * takes its collective operation to leave the GPU over NVLink */
	_Atomic uint64_t foreign;
};
extern struct nccl_losses nccl_losses;

/* A call or message, as it began. */
struct nccl_logged {
	uint64_t time; /* ns */
	uint64_t bytes;
	uint32_t cell;
	_Atomic uint32_t thread; /* 0: it is not yet written */
};

#define NCCL_MEMORY_MIB 64
/* One event has fewer bytes than this. */
#define NCCL_MOST_BYTES (UINT64_C(1) << 56)

/* This reserves so many MiB for cells, at most a quarter of that to find them, and
 * three eighths for the log;
 * pages come as they are used. It returns 0, or -1. A process calls it once, and again after a
 * fork, when all before is forgotten; no other thread may be in here. */
int nccl_begin(int mebibytes);

/* This makes a communicator's context, or NULL when memory is full. */
void *nccl_open(const struct nccl_communicator *about);

/* These are the interface's start and state, whatever its version. types are those
 * that the version has. */
void nccl_start(void *context, void **handle, uint64_t type, void *parent,
                const union nccl_subject *subject, uint64_t types);
void nccl_advance(void *handle, int state, const struct nccl_state *args);

/* These are all cells, in the order of making: 0 <= i < nccl_cells(). */
uint32_t nccl_cells(void);
const struct nccl_cell *nccl_cell_at(uint32_t i);

/* What is logged, of which `missed` calls and messages are not for want of room. */
uint32_t nccl_log(const struct nccl_logged **log, uint64_t *missed);

struct nccl_call nccl_call_unpack(uint64_t key);

static inline uint64_t nccl_sum(const struct nccl_cell *cell, int i)
{
	return atomic_load_explicit(&cell->sum[i], memory_order_relaxed);
}
