/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The groups of a job that trains on a grid of tensor (tp), context (cp), data (dp)
 * and pipeline (pp) parallel ranks, and what NCCL sends for their collectives.
 *
 * Ranks are in Megatron Core's order tp-cp-ep-dp-pp (parallel_state.py,
 * RankGenerator), the first the fastest: rank = t + tp (c + cp (d + dp p)). Experts
 * are spread over ep of the cp dp ranks that have the same t and p, next to each
 * other (Liu et al. 2025, "MoE Parallel Folding", 3.1).
 *
 * Collectives go round NCCL's ring over the group: of n ranks each sends the next one
 * 2 (n - 1) / n of an all-reduce's buffer and (n - 1) / n of what an all-gather makes
 * or a reduce-scatter takes; a broadcast goes whole down the ring from its root, and
 * a reduction to it. In an all-to-all each rank sends an n-th of its buffer to each.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "graph/comm.h"

enum grid_kind {
	GRID_TP,
	GRID_CP,
	GRID_DP,
	GRID_DP_CP, /* the ranks with the same parameters, or shards of them */
	GRID_PP,
	GRID_EP,
	GRID_EP_DP, /* with the same experts */
	GRID_EP_TP,
	GRID_EMBEDDING, /* the first and the last stage */
	GRID_ALL,
	GRID_SHARD,   /* of DP_CP, with a part of the parameters each */
	GRID_REPLICA, /* of DP_CP, with the same part */
	GRID_KINDS,
};

struct train_grid {
	int tp, cp, dp, pp, ep; /* ep divides cp dp */
	int shard; /* so does the size of GRID_SHARD */
};

/* Its ranks differ by stride. */
struct grid_group {
	int stride, size;
};

enum grid_operation {
	GRID_ALL_REDUCE,
	GRID_ALL_GATHER,
	GRID_REDUCE_SCATTER,
	GRID_BROADCAST,
	GRID_REDUCE,
	GRID_ALL_TO_ALL,
	GRID_SEND_NEXT,     /* all but the last one */
	GRID_SEND_PREVIOUS, /* all but the first one */
	GRID_PASS,          /* everyone to the next one round the ring */
	GRID_PASS_BACK,
	GRID_OPERATIONS,
};

struct grid_call {
	struct grid_group group;
	enum grid_operation operation;
	int root;      /* place in the group, of broadcast and reduce */
	double bytes;  /* of the buffer as the operation has it in all ranks: see
	                  above; of the message in SEND and PASS */
	double repeat; /* there are so many of these bytes */
	double calls;  /* in so many calls */
};

/* GRID_EP_TP needs a cp of 1, GRID_SHARD and GRID_REPLICA a shard. */
struct grid_group grid_group(const struct train_grid *grid, enum grid_kind kind);
/* "tp_group" and so on, as AICB has them. */
const char *grid_name(enum grid_kind kind);
/* "all_reduce", "isend" and so on. */
const char *grid_operation_name(enum grid_operation operation);

/* This puts what a rank of the group sends behind n others in out[], and returns how
 * many there are then. What goes to the next or previous one is added to a message
 * that is there; an all-to-all has size - 1 entries of its own. It costs O(n +
 * size). */
int64_t grid_put(const struct grid_call *call, int rank,
                 struct cpl_comm_entry *out, int64_t n);

/* These bytes all ranks of one group send. */
double grid_sent(const struct grid_call *call);

/* What "recorded" tells of the calls of a phase in groups of a kind. */
struct grid_told {
	const char *phase, *collective;
	enum grid_kind kind;
	int size, groups;
	json_t *calls, *bytes; /* of a rank; references that are taken over */
	double sent;           /* bytes, by all */
};

/* This adds it to the array `list`. It returns 0, or -1 with err when memory is
 * out, also for calls and bytes. */
int grid_tell(json_t *list, const struct grid_told *told,
              struct cpl_error *err);
/* A number without a point where it has no fraction; NULL: memory is out. */
json_t *grid_amount(double v);
