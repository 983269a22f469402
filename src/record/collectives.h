/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collective operations as the point-to-point messages of a stated algorithm.
 * Each rank works out only what it *sends*, from arguments that it has anyway,
 * so nothing is counted twice and nothing is communicated for it. What the MPI
 * library does in truth may differ (it chooses by size); this table, named
 * REC_ALGORITHMS, is what signatures hold. P = size of the communicator, v =
 * (rank - root) mod P, low(v) = lowest set bit of v (P for v = 0).
 *
 *   Barrier          dissemination: ceil(log2 P) rounds, in round k one message
 *                    of no bytes to (rank + 2^k) mod P
 *   Bcast            binomial tree: v sends to v + 2^k for 2^k < low(v)
 *   Reduce           binomial tree: v sends once, to v - low(v)
 *   Allreduce        recursive doubling. Not a power of two: with p2 the
 *                    largest power of two <= P and x = P - p2, the even ranks
 *                    below 2x first send to their odd neighbour, which takes
 *                    part for both and sends the result back
 *   Gather           binomial tree: v sends the blocks of its subtree
 *   Scatter          binomial tree: v sends each child its subtree's blocks
 *   Gatherv          linear: everyone to the root
 *   Scatterv         linear: the root to everyone
 *   Allgather(v)     ring: P - 1 steps to rank + 1, every block but that one's
 *   Alltoall(v,w)    pairwise: one message to each other rank
 *   Reduce_scatter(_block)  pairwise: block i to rank i
 *   Scan, Exscan     linear: rank to rank + 1
 *   Neighbor_*       one message to each outgoing neighbour
 *
 * Intercommunicators: Bcast, Scatter(v) linear from the root; Gather(v) linear
 * to the root; Reduce binomial to local rank 0, which sends to the root;
 * Allgather(v) and Alltoall(v,w) everyone to each remote rank; Allreduce and
 * Barrier binomial to local rank 0, which exchanges with remote rank 0,
 * then binomial from local rank 0; Reduce_scatter likewise, its last step
 * linear.
 *
 * A block of no bytes is not sent, except in a barrier. A rank's block to
 * itself is not sent. Sources: R. Thakur, R. Rabenseifner, W. Gropp,
 * "Optimization of Collective Communication Operations in MPICH", 2005
 * (trees, ring, pairwise, recursive doubling); D. Hensgen, R. Finkel, U.
 * Manber, "Two Algorithms for Barrier Synchronization", 1988 (dissemination).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REC_ALGORITHMS "trees-1"

/* These are roots of intercommunicators: this rank is the root, or takes no part. */
#define REC_ROOT_SELF (-1)
#define REC_ROOT_NONE (-2)

/* For one call, this says who this rank is and where its messages go. */
struct rec_coll {
	int rank, size;
	int remote_size; /* 0 means an intracommunicator */
	/* This is called for `messages` messages with `bytes` in all to a rank of
	 * this rank's own group, or of the remote group of an intercommunicator. */
	void (*emit)(void *context, bool remote, int to, uint64_t bytes,
	             uint64_t messages);
	void *context;
};

/* This is an array of counts as MPI has it, of int64_t or of int. */
struct rec_counts {
	const void *at;
	bool large;
};

static inline int64_t rec_count_at(struct rec_counts c, int i)
{
	int64_t count;

	if (!c.large)
		return ((const int *)c.at)[i];
	memcpy(&count, (const int64_t *)c.at + i, sizeof(count));
	return count;
}

/* The bytes of block i are count[i] * (sizes ? sizes[i] : size). */
struct rec_blocks {
	struct rec_counts count;
	const uint64_t *sizes;
	uint64_t size;
};

/* bytes is the whole buffer. They cost O(log P). */
void rec_barrier(const struct rec_coll *c);
void rec_bcast(const struct rec_coll *c, int root, uint64_t bytes);
void rec_reduce(const struct rec_coll *c, int root, uint64_t bytes);
void rec_allreduce(const struct rec_coll *c, uint64_t bytes);
void rec_scan(const struct rec_coll *c, uint64_t bytes);

/* bytes is one rank's block. They cost O(log P), but the last two and
 * intercommunicators O(P). */
void rec_gather(const struct rec_coll *c, int root, uint64_t bytes);
void rec_gatherv(const struct rec_coll *c, int root, uint64_t bytes);
void rec_scatter(const struct rec_coll *c, int root, uint64_t bytes);
void rec_allgather(const struct rec_coll *c, uint64_t bytes);
void rec_alltoall(const struct rec_coll *c, uint64_t bytes);

/* They cost O(P). blocks is for all ranks of the group that the messages go to, or
 * for rec_allgatherv has all ranks' contributions (own: this rank's bytes, used on
 * intercommunicators). */
void rec_scatterv(const struct rec_coll *c, int root,
                  const struct rec_blocks *blocks);
void rec_allgatherv(const struct rec_coll *c, uint64_t own,
                    const struct rec_blocks *blocks);
void rec_alltoallv(const struct rec_coll *c, const struct rec_blocks *blocks);
void rec_reduce_scatter(const struct rec_coll *c,
                        const struct rec_blocks *blocks);
void rec_reduce_scatter_block(const struct rec_coll *c, uint64_t bytes);
