/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of a run, such as a training's, among what NCCL was told to do. The log of
 * each thread (nccl_count.h) is folded into loops (fold.h), where calls and messages
 * are alike that are of one cell and have bytes of as many digits. The longest loop of
 * the thread with the longest one is the steps, if it has at least NCCL_STEPS_MIN
 * rounds and half of what that thread did; in other threads those loops are steps, too,
 * that have as many rounds, or one more or less where the first or the last was not
 * folded, which then counts as the others. What came when the log was full is taken for more of them.
 *
 * What the network carried is divided as the bytes are of what it was carried for:
 * messages to that peer, and in a communicator all that its collective operations put
 * on a ring.
 */
#pragma once

#include "nccl_count.h"

#define NCCL_STEPS_MIN 3

struct nccl_steps {
	uint64_t rounds; /* 0: there are no steps */
	uint64_t time;   /* ns, of all of them */
	/* [n_cells] [NCCL_SUMS] what they have of each cell's sums */
	uint64_t (*sum)[NCCL_SUMS];
	uint32_t n_cells;
};

/* Are these the steps of the same run? */
static inline bool nccl_steps_alike(uint64_t a, uint64_t b)
{
	return a && b && a <= b + 1 && b <= a + 1;
}

/* When memory is out there are no steps. Free sum. O(log * log(log)). */
void nccl_steps_find(struct nccl_steps *out);
