/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This makes the traffic between the ranks of a run of the pieces of its processes
 * (nccl_piece.h).
 *
 * Who is who. A process is a rank, and has the number that its launcher gave it, if
 * all have one and none twice; else that in the largest communicator, if all are in
 * it; else that of its host's and its own name in order. Where a process is several
 * ranks of a communicator (threads, or one process for all GPUs of a node), ranks are
 * those of the largest communicator, and in other communicators a process's ranks are
 * told by the thread that made them, or else taken in the same order: `ambiguous`
 * counts communicators where that had to be guessed. The rank of a process without a
 * piece is known only in a communicator that has all ranks, each with its own number.
 *
 * Nothing is counted twice. Bytes on the network are those that the proxies sent. A
 * message between two ranks counts as its own bytes if no step of the proxy was part
 * of it, and as the bytes of its steps otherwise. NCCL's events do not tell what goes
 * from GPU to GPU within a node (or NVLink domain), nor the order of a ring in it; of a
 * collective operation of B bytes (count * datatype) on n ranks, of which L are in
 * this rank's node, each rank therefore is taken to send
 *
 *   RING, PAT, unknown algorithms: 2 (n - 1) / n B (AllReduce), (n - 1) B (AllGather,
 *       ReduceScatter: B is a rank's block) or B (Broadcast, but for the rank before
 *       the root; Reduce, but for the root) to the next rank of its node, the last
 *       one to the first. Of that it sends only the share of those channels in
 *       which it has no operation of the proxy: the others leave the node, and are
 *       counted as they were sent. A rank that is alone in its node sends nothing
 *       else than what its proxies do.
 *   TREE, COLLNET_CHAIN (AllReduce): B to the rank before and B to the one behind it
 *       in its node: trees are chains in a node.
 *   NVLS, NVLS_TREE, COLLNET_DIRECT, copy engines: 2 / L B (AllReduce) or n / L B
 *       (AllGather, ReduceScatter) to each other rank of its node; Broadcast: the
 *       root B to each, Reduce: each B to the root.
 *   AlltoAll, Gather, Scatter: B to each other rank, to the root, from the root.
 *
 * A node has the ranks of one host, when there are as many hosts as NCCL says there
 * are nodes; else (NVLink across hosts, several nodes on a host) consecutive ranks,
 * equally many of each. If no proxy of a communicator sends, all its ranks are one
 * node.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nccl_row {
	int from, to;
	uint64_t bytes, messages;           /* of the run */
	uint64_t step_bytes, step_messages; /* of one step */
};

struct nccl_join;

/* These are facts of all pieces that are kept. */
struct nccl_facts {
	int ranks, processes, hosts;
	int version;    /* of the interface */
	int incomplete; /* ranks without a piece */
	int ambiguous;  /* communicators */
	/* All processes have come to their end, and none is to come. */
	bool is_whole;
	uint64_t largest;                      /* communicator's id */
	uint64_t time;                         /* ns, the longest */
	/* Steps of the run (nccl_steps.h), as most processes have them, and ns of
	 * one, the longest; 0: none. What other processes did is in no step. */
	uint64_t steps, step_time;
	uint64_t network_bytes, derived_bytes; /* of the rows */
	/* full, refused: events; unplaced: bytes to ranks that nobody knows */
	uint64_t full, full_bytes, refused, unknown, foreign, unplaced;
	const char *command, *application, *name; /* of rank 0's process */
};

#define NCCL_WHY 512

/* NULL: memory is out. Free with nccl_join_free. */
struct nccl_join *nccl_join_new(void);
void nccl_join_free(struct nccl_join *j);

/* This reads a piece. It returns 0, or -1 with why[NCCL_WHY] "FILE:LINE: reason". */
int nccl_join_read(struct nccl_join *j, const char *path, char *why);
/* The same of what is in memory; size > 0. */
int nccl_join_parse(struct nccl_join *j, const void *data, size_t size,
                    const char *name, char *why);

/* This leaves out pieces of other runs: it keeps that of this process, those that
 * share communicators with one that is kept, and those of other ranks of as many as
 * its launcher says. */
void nccl_join_keep(struct nccl_join *j, const char *host, int pid);

/* This makes rows[n], by source and destination, each pair once. Valid until
 * nccl_join_free. It returns 0, or -1 with why. It costs O(lines * log lines +
 * ranks of collectives that go to all). */
int nccl_join_solve(struct nccl_join *j, const struct nccl_row **rows,
                    int64_t *n, struct nccl_facts *facts, char *why);
