/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is what one rank has sent: bytes and messages per peer. It is a dense array
 * while the world is small, else a hash table with open addressing. It needs no
 * MPI. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define REC_DENSE_LIMIT 65536 /* ranks */

struct rec_cell {
	uint64_t bytes, messages;
};

struct rec_table {
	int ranks;
	int *peer;             /* [capacity], -1 free; NULL: dense */
	struct rec_cell *cell; /* [capacity], or [ranks] when dense */
	size_t capacity, used; /* of the hash table; a power of two */
};

/* This is one line of a rank's profile, as it travels to rank 0. */
struct rec_row {
	int32_t peer;
	int32_t inward; /* 1: the peer is the source (one-sided get) */
	uint64_t bytes, messages;
};

/* This makes an empty table for peers 0..ranks-1, dense up to dense_limit ranks. It
 * returns 0, or -1 when memory is out. Free it with rec_table_free, also after a
 * failure. */
int rec_table_init(struct rec_table *t, int ranks, int dense_limit);
void rec_table_free(struct rec_table *t);

/* This adds to a peer; messages > 0. It returns 0, or -1 when memory is out, and
 * then nothing is added. It costs O(1). */
int rec_table_add(struct rec_table *t, int peer, uint64_t bytes,
                  uint64_t messages);

/* This counts the peers with traffic. It costs O(ranks) when dense, else O(1). */
size_t rec_table_count(const struct rec_table *t);

/* This writes rec_table_count rows, by increasing peer and marked with inward, and
 * returns their number. It costs O(ranks) when dense, else O(capacity + used log
 * used). */
size_t rec_table_rows(const struct rec_table *t, int inward,
                      struct rec_row *out);
