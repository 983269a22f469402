/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is who among the pieces' processes, for nccl_join.c only. */
#pragma once

#include "nccl_reader.h"

/* The members of one communicator: order[first .. first + n - 1]. */
struct nccl_ring {
	uint32_t first, n;
	uint32_t known; /* ranks */
	int ranks, nodes;
	bool is_complete, on_network;
	bool is_straight; /* each member's number is its rank of the run */
	bool by_host;     /* nodes are hosts, else `length` consecutive ranks */
	int length;
};

/* While rows are made. */
struct nccl_solver {
	struct nccl_join *j;
	struct nccl_facts *facts;
	struct nccl_ring *ring; /* [n] by id */
	uint32_t n;
	uint32_t largest; /* of rings */
	/* The first `known` of each ring are its ranks by host. */
	uint32_t *by_host; /* [n_ordered] */
	/* The same by process, where ranks are threads. */
	uint32_t *by_piece;
	int64_t work; /* loops over all ranks */
	char *why;
};

/* This sorts the members, and fills in rings, by_host, their numbers in the run, and the
 * facts `ranks` and `ambiguous`. It returns 0, or -1 with why. The caller frees ring,
 * by_host and by_piece. */
int nccl_name_all(struct nccl_solver *s);

const struct nccl_ring *nccl_ring_of(const struct nccl_solver *s, uint64_t id);

/* The place in the order of a communicator's rank, or UINT32_MAX. It costs O(log). */
uint32_t nccl_find_rank(const struct nccl_join *j, const struct nccl_ring *r,
                        int rank);

/* This sets why, and returns -1. */
int nccl_complain(struct nccl_solver *s, const char *reason);

const char *nccl_host_of(const struct nccl_join *j, uint32_t member);

/* For qsort_r of pieces' numbers: by host and process. */
int nccl_by_process(const void *a, const void *b, void *arg);
