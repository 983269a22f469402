/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication matrices contracted by groups of ranks. */
#pragma once

#include "graph/comm.h"

/* To be added up. */
enum cpl_contract {
	CPL_CONTRACT_INSIDE = 1,   /* keep traffic inside a group, too */
	CPL_CONTRACT_NO_EMPTY = 2, /* leave out pairs without a byte */
	CPL_CONTRACT_BYTES = 4,    /* bytes only: result->messages is NULL */
};

/* What the ranks of a group send to those of another, group[rank] of n_groups,
 * added up in the order of ranks and entries. comm->messages may be NULL, then
 * the result's are. NULL with err (memory). O(entries + n_groups log). */
struct cpl_comm *cpl_comm_contract(const struct cpl_comm *comm,
                                   const int *group, int n_groups, int how,
                                   struct cpl_error *err);
