/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are the rows of a communication matrix that need not be stored: a weighted
 * sum of phases, each a matrix or a generator that makes rows on demand. */
#pragma once

#include "graph/comm.h"
#include "signature/signature.h"

struct cpl_pattern;

struct cpl_rows_term {
	double weight;
	const struct cpl_comm *comm;       /* NULL: use pattern */
	const struct cpl_pattern *pattern; /* NULL: use comm */
};

/* Rows refer to a signature, which has to live as long. */
struct cpl_rows {
	int ranks;
	int n_terms;
	int64_t max_entries; /* the most that cpl_rows_next writes */
	struct cpl_rows_term term[];
};

/* With phase NULL these are the rows of the whole run, else of one execution of the
 * phase of that name. It returns NULL with err when memory is out or there is no
 * such phase. It costs O(phases). */
struct cpl_rows *cpl_rows_new(const struct cpl_signature *sig,
                              const char *phase, struct cpl_error *err);
/* These are the rows of one execution of a phase, read from its matrix if it has
 * one. It returns NULL with err when memory is out. */
struct cpl_rows *cpl_rows_of_phase(const struct cpl_phase *phase, int ranks,
                                   struct cpl_error *err);
void cpl_rows_free(struct cpl_rows *rows);

/* This is a position in the rows of ranks [rank, last). */
struct cpl_rows_iter {
	int rank, last;
	int term, at;  /* at: next rank of the term */
	int64_t entry; /* next one of a stored row that comes in pieces */
};

static inline struct cpl_rows_iter cpl_rows_iter(int rank, int last)
{
	return (struct cpl_rows_iter){rank, last, 0, rank, 0};
}

/* These are the entries of `count` ranks of the same shape: rank from + i sends
 * each entry's bytes and messages to entry.to + i, for i below count. */
struct cpl_rows_batch {
	int from, count;
	int64_t n;
	double weight; /* to multiply bytes and messages by */
};

/* This writes the next entries into out[rows->max_entries], and returns false
 * behind the last. They come phase by phase with increasing ranks. The entries of a
 * rank come in any order and in several batches, and a pair may come several times.
 * The iterator holds all state. It costs O(entries). */
bool cpl_rows_next(const struct cpl_rows *rows, struct cpl_rows_iter *iter,
                   struct cpl_rows_batch *batch, struct cpl_comm_entry *out);

/* This calls fn once for every rank of [first, last) with all that it sends:
 * weighted, sorted by `to`, each pair once. As in a batch, the ranks from .. from +
 * count - 1 are alike; they increase. It returns 0, or -1 with err. It costs
 * O(entries log entries of a row). */
int cpl_rows_each(const struct cpl_rows *rows, int first, int last,
                  void (*fn)(void *arg, int from, int count,
                             const struct cpl_comm_entry *entry, int64_t n),
                  void *arg, struct cpl_error *err);

/* This says whether every rank is known to get as many bytes from another as it
 * sends there. It costs O(1). */
bool cpl_rows_symmetric(const struct cpl_rows *rows);

/* This returns their matrix for cpl_comm_free, or NULL with err where it could be
 * too large. It costs as much as cpl_rows_each of all ranks. */
struct cpl_comm *cpl_rows_comm(const struct cpl_rows *rows,
                               struct cpl_error *err);
