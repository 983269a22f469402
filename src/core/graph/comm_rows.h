/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For those who make matrices row by row; see cpl_comm_build for the others. */
#pragma once

#include <stdbool.h>

#include "graph/comm.h"

/* An empty matrix with space for n_entries. NULL when memory is out. */
struct cpl_comm *comm_new(int ranks, int64_t n_entries, struct cpl_error *err);

/* Give the arrays of entries that capacity; messages: those of messages, too.
 * 0, or -1 when memory is out. */
int comm_resize(struct cpl_comm *comm, int64_t n_entries, bool messages);

/* Cut the matrix to its first n_entries entries and give memory back. */
void comm_shrink(struct cpl_comm *comm, int64_t n_entries);

/* Sort by .to, stable, so that equal pairs are added up in their order of
 * input. scratch is of n / 2 entries. O(n log n). */
void comm_sort_row(struct cpl_comm_entry *entry, int64_t n,
                   struct cpl_comm_entry *scratch);

/* Append a sorted row at out->to[used]; equal pairs are added up. Rows come in
 * order, from row 0 on. Returns the entries used so far. */
int64_t comm_append_row(struct cpl_comm *out, int row, int64_t used,
                        const struct cpl_comm_entry *entry, int64_t n);
