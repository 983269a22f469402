/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a communication matrix that need not be stored: of a weighted
 * sum of phases, each a matrix or a generator ("pattern") that makes its rows
 * when they are asked for. 1.1 billion messages then take no memory.
 */
#ifndef CPL_SIGNATURE_ROWS_H
#define CPL_SIGNATURE_ROWS_H

#include "signature/comm.h"
#include "signature/signature.h"

struct cpl_pattern;

struct cpl_rows_part {
	double weight;
	const struct cpl_comm *comm;       /* NULL: pattern */
	const struct cpl_pattern *pattern; /* NULL: comm */
};

/* Belongs to a signature, which must live as long. */
struct cpl_rows {
	int ranks;
	int n_parts;
	int64_t room; /* entries that cpl_rows_next writes at the most */
	struct cpl_rows_part part[];
};

/*
 * Phase NULL is the whole run, else one execution of the phase of that name
 * (refused with the names there are). Free with cpl_rows_free. NULL with err.
 */
struct cpl_rows *cpl_rows_new(const struct cpl_signature *sig,
                              const char *phase, struct cpl_error *err);
void cpl_rows_free(struct cpl_rows *rows);

/* Where a walk over the rows of ranks [rank, last) is. */
struct cpl_rows_walk {
	int rank, last;
	int part, at;  /* at: next rank of the part */
	int64_t entry; /* of a stored row that came in pieces */
};

static inline struct cpl_rows_walk cpl_rows_walk(int rank, int last)
{
	return (struct cpl_rows_walk){rank, last, 0, rank, 0};
}

/* Entries of `count` ranks of the same shape: rank from + i sends each entry's
 * bytes and messages to entry.to + i, for i below count. */
struct cpl_rows_bunch {
	int from, count;
	int64_t n;
	double weight; /* multiply bytes and messages by it */
};

/*
 * The walk's next entries into out[rows->room]; false when the walk is over.
 * Entries of a rank may come in any order and in several bunches, and a pair
 * several times. Phase by phase, ranks increasing in each. No allocation, no
 * state but the walk's: several threads may walk at once. O(entries written).
 */
bool cpl_rows_next(const struct cpl_rows *rows, struct cpl_rows_walk *walk,
                   struct cpl_rows_bunch *bunch, struct cpl_comm_entry *out);

/*
 * Call fn for every rank of [first, last) once, with all it sends: entries
 * sorted by `to`, each pair once, bytes and messages weighted; ranks from ..
 * from + count - 1 as in a bunch, increasing. 0, or -1 with err (memory).
 * O(entries log entries of a row).
 */
int cpl_rows_each(const struct cpl_rows *rows, int first, int last,
                  void (*fn)(void *arg, int from, int count,
                             const struct cpl_comm_entry *entry, int64_t n),
                  void *arg, struct cpl_error *err);

/* Known without looking: whoever sends to a rank gets as many bytes back. */
bool cpl_rows_symmetric(const struct cpl_rows *rows);

/*
 * Matrix of the rows: entries sorted and added up. Refused where they could be
 * more than memory should hold. The caller frees it with cpl_comm_free.
 */
struct cpl_comm *cpl_rows_comm(const struct cpl_rows *rows,
                               struct cpl_error *err);

#endif
