/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This keeps a sequence of numbered events as loops in bounded memory. It needs no
 * MPI.
 *
 * The rule: whenever an event is appended and the last w elements (events or loops)
 * equal the w before them, the two become one loop of two rounds. When they equal
 * the body of the loop before them, that loop gets one more round. Loops are equal
 * when their bodies and the rounds of each entry are. The shortest window comes
 * first, none is longer than REC_FOLD_WINDOW, and of windows with the same last two
 * elements the nearest REC_FOLD_TRIES are tried. Until an event has been in a loop, it
 * is not the first round of one when it comes after a computation that is
 * REC_FOLD_LONG times as long as that of the second, and longer than 10 ms: what is
 * computed before the steps of a run would be lost in their sum. Amounts of what is folded (how
 * often, bytes, times) are added up and never lost.
 *
 * The bound: beyond REC_FOLD_NODES nodes, loops first become equal whatever their
 * rounds are (their sum and the number of entries are kept), and everything is
 * folded again. If that is not enough, the older half of the sequence is handed to
 * `drop`, which keeps amounts and forgets the order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REC_FOLD_NODES 65536
#define REC_FOLD_WINDOW 4096
#define REC_FOLD_TRIES 64
#define REC_FOLD_DEPTH 24 /* of loops inside loops */
#define REC_FOLD_LONG 4
#define REC_FOLD_NONE UINT32_MAX

/* This sums up a number of equal events; times are in nanoseconds. */
struct rec_amount {
	uint64_t count, bytes;
	uint64_t compute;  /* since the call before */
	uint64_t duration; /* in the call */
};

struct rec_node {
	uint64_t symbol; /* equal ones are folded */
	uint32_t next;   /* in a body; REC_FOLD_NONE: the last */
	uint32_t event;  /* REC_FOLD_NONE: a loop */
	union {
		struct rec_amount amount; /* of an event */
		struct {                  /* of a loop */
			uint64_t entries, rounds; /* of all entries */
			uint64_t body;            /* hash */
			uint32_t first;
			uint16_t length, depth; /* elements of the body */
		};
	};
};

struct rec_fold;

/* This returns NULL when memory is out. most is the number of nodes, at least 64; a
 * program takes REC_FOLD_NODES. rec_fold_append may call drop(arg, event, amount).
 * Free with rec_fold_free. */
struct rec_fold *rec_fold_new(uint32_t most,
                              void (*drop)(void *arg, uint32_t event,
                                           const struct rec_amount *amount),
                              void *arg);
void rec_fold_free(struct rec_fold *f);

/* This appends an event, or drops it where memory is out. It costs O(1) for what
 * repeats, or at worst O(REC_FOLD_TRIES), amortised. */
void rec_fold_append(struct rec_fold *f, uint32_t event,
                     const struct rec_amount *amount);

/* These give the top of the tree: how many elements there are, and each of them.
 * `first` and `next` lead to a loop's elements. They are valid until the next
 * append. */
uint32_t rec_fold_length(const struct rec_fold *f);
const struct rec_node *rec_fold_top(const struct rec_fold *f, uint32_t i);
const struct rec_node *rec_fold_node(const struct rec_fold *f, uint32_t node);
