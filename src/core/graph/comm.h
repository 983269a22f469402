/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Communication matrix in compressed rows (CSR): row r holds the destinations
 * of rank r in increasing order, each once.
 */
/* Tests: arena bisect contract heap members in test_partition; rank_grid
 * in test_groups; comm* in
 * test_signature; group* treematch in test_binding test_bind_uneven. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct cpl_comm {
	int ranks;
	int64_t n_entries;
	int64_t *row;     /* [ranks + 1] */
	int *to;          /* [n_entries] */
	double *bytes;    /* [n_entries], >= 0 */
	double *messages; /* [n_entries], >= 0 */
};

/* One unsorted entry, input of cpl_comm_build. */
struct cpl_comm_entry {
	int from, to;
	double bytes, messages;
};

/* Sort and add up n entries (the array is reordered), 0 <= from, to < ranks.
 * NULL with err (memory). O(n log n), O(n + ranks) when already sorted. */
struct cpl_comm *cpl_comm_build(int ranks, struct cpl_comm_entry *entry,
                                int64_t n, struct cpl_error *err);

/* m + m^T without the diagonal: the undirected communication graph that mappers
 * and binders work on. O(entries + ranks). */
struct cpl_comm *cpl_comm_symmetric(const struct cpl_comm *comm,
                                    struct cpl_error *err);

/* The matrix of a subset: rank i of the result is rank[i] of comm, all of them
 * distinct; traffic to others is left out. O(entries of those rows + ranks). */
struct cpl_comm *cpl_comm_subset(const struct cpl_comm *comm, const int *rank,
                                 int n, struct cpl_error *err);

/* The rank whose row has most bytes, ties to the lowest. O(entries). */
int cpl_comm_heaviest(const struct cpl_comm *comm);

/* Is anything sent between ranks of different blocks of so many (ranks i * block
 * .. of the i-th)? O(entries up to the first). */
bool cpl_comm_crosses(const struct cpl_comm *comm, int block);

/* cpl_comm_build and cpl_comm_symmetric of that. */
struct cpl_comm *cpl_comm_build_symmetric(int ranks,
                                          struct cpl_comm_entry *entry,
                                          int64_t n, struct cpl_error *err);

/*
 * How much two matrices of as many ranks differ, whatever their totals: half
 * the sum over all pairs of the difference between the parts of all bytes that
 * they have; 0: the same, 1: no pair in common. Against a matrix without bytes
 * it is 1, between two of these 0. O(entries).
 */
double cpl_comm_distance(const struct cpl_comm *a, const struct cpl_comm *b);

/* Bytes of memory that it takes. O(1). */
uint64_t cpl_comm_bytes(const struct cpl_comm *comm);

void cpl_comm_free(struct cpl_comm *comm);
