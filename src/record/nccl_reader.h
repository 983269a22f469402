/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces as they are in memory, for those that join them only. */
#pragma once

#include "nccl_count.h"
#include "nccl_join.h"
#include "nccl_piece.h"

#define NCCL_MAX_RANKS 1048576

/* A rank of a communicator in a process. */
struct nccl_member {
	struct nccl_communicator about;
	uint32_t number; /* in its piece */
	int piece;
	int global;      /* rank of the run, -1: unknown */
	bool on_network; /* its proxies have sent for collective operations */
};

/* A line of a pair or of calls. */
struct nccl_tally {
	uint32_t member;
	bool of_calls, in_steps;
	int peer;
	struct nccl_call call;
	uint64_t sum[NCCL_SUMS];
};

struct nccl_piece {
	struct nccl_process about;
	uint64_t loss[5];
	uint64_t steps[2]; /* rounds, 0: none; ns */
	bool is_kept;
};

struct nccl_join {
	struct nccl_piece *piece;
	struct nccl_member *member;
	struct nccl_tally *tally;
	uint32_t n_pieces, n_members, n_tallies;
	uint32_t *order; /* [n_ordered] kept members by id, rank, piece */
	uint32_t n_ordered;
	struct nccl_row *row;
	int64_t n_rows;
};

/* An array of n with room for one more, in steps of powers of two; NULL: memory
 * is out, and the array as it was. */
void *nccl_grow(void *array, int64_t n, size_t size);
