/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a communication matrix that need not be stored: a weighted sum of
 * phases, each a matrix or a generator that makes rows when they are asked for.
 * */
#ifndef CPL_SIGNATURE_ROWS_H
#define CPL_SIGNATURE_ROWS_H

#include "graph/comm.h"
#include "signature/signature.h"

struct cpl_pattern;

struct cpl_rows_term {
	double weight;
	const struct cpl_comm *comm;       /* NULL: pattern */
	const struct cpl_pattern *pattern; /* NULL: comm */
};

/* Rows belong to a signature, which has to live as long. */
struct cpl_rows {
	int ranks;
	int n_terms;
	int64_t max_entries; /* entries that cpl_rows_next writes at the most */
	struct cpl_rows_term term[];
};

/* Phase NULL: the whole run, else one execution of the phase of that name. The
 * signature has to outlive them. NULL with err (memory; no such phase).
 * O(phases). */
struct cpl_rows *cpl_rows_new(const struct cpl_signature *sig,
                              const char *phase, struct cpl_error *err);
/* One execution of a phase; the matrix where it has one. NULL with err (memory).
 */
struct cpl_rows *cpl_rows_of_phase(const struct cpl_phase *phase, int ranks,
                                   struct cpl_error *err);
void cpl_rows_free(struct cpl_rows *rows);

/* A position in the rows of ranks [rank, last). */
struct cpl_rows_iter {
	int rank, last;
	int term, at;  /* at: next rank of the term */
	int64_t entry; /* of a stored row that came in pieces */
};

static inline struct cpl_rows_iter cpl_rows_iter(int rank, int last)
{
	return (struct cpl_rows_iter){rank, last, 0, rank, 0};
}

/* Entries of `count` ranks of the same shape: rank from + i sends each entry's
 * bytes and messages to entry.to + i, for i below count. */
struct cpl_rows_batch {
	int from, count;
	int64_t n;
	double weight; /* multiply bytes and messages by it */
};

/*
 * The next entries into out[rows->max_entries]; false behind the last. Phase by
 * phase, ranks increasing in each; entries of a rank in any order and in
 * several batches, a pair several times. No state but the iterator's.
 * O(entries).
 */
bool cpl_rows_next(const struct cpl_rows *rows, struct cpl_rows_iter *iter,
                   struct cpl_rows_batch *batch, struct cpl_comm_entry *out);

/*
 * Call fn for every rank of [first, last) once, with all it sends: sorted by
 * `to`, each pair once, weighted; ranks from .. from + count - 1 as in a batch,
 * increasing. 0, or -1 with err. O(entries log entries of a row).
 */
int cpl_rows_each(const struct cpl_rows *rows, int first, int last,
                  void (*fn)(void *arg, int from, int count,
                             const struct cpl_comm_entry *entry, int64_t n),
                  void *arg, struct cpl_error *err);

/* Is it known that whoever sends to a rank gets as many bytes back? O(1). */
bool cpl_rows_symmetric(const struct cpl_rows *rows);

/* Their matrix for cpl_comm_free; NULL with err where it could be too large. As
 * cpl_rows_each of all ranks. */
struct cpl_comm *cpl_rows_comm(const struct cpl_rows *rows,
                               struct cpl_error *err);

#endif
