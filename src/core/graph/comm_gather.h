/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A matrix from entries that come twice in the same order: first they are
 * counted, then put. It takes the matrix's own memory alone, where
 * cpl_comm_build has a list of all entries besides.
 */
#pragma once

#include "graph/comm.h"

struct cpl_comm_gather {
	struct cpl_comm *comm; /* NULL while entries are counted; then entries
	                        * of a row as they came */
	int64_t *next;         /* [ranks + 1] of a row: how many; then where
	                        * the next goes */
	int ranks;
};

/* Entries are counted from now on. 0, or -1 with err (memory). O(ranks). */
int cpl_comm_gather_open(struct cpl_comm_gather *gather, int ranks,
                         struct cpl_error *err);
/* They are put from now on. 0, or -1 with err (memory). O(ranks). */
int cpl_comm_gather_counted(struct cpl_comm_gather *gather,
                            struct cpl_error *err);
/* The matrix, as cpl_comm_build has it: rows sorted, equal pairs added up in the
 * order in which they came. NULL with err (memory). O(n log n), O(n) of rows
 * that are in order. */
struct cpl_comm *cpl_comm_gather_end(struct cpl_comm_gather *gather,
                                     struct cpl_error *err);
/* Free whatever was not ended; to be called in either case. */
void cpl_comm_gather_free(struct cpl_comm_gather *gather);

/* An entry of one message. O(1). */
static inline void cpl_comm_gather(struct cpl_comm_gather *gather, int from,
                                   int to, double bytes)
{
	int64_t at = gather->next[from]++;

	if (!gather->comm)
		return;
	gather->comm->to[at] = to;
	gather->comm->bytes[at] = bytes;
	gather->comm->messages[at] = 1;
}
