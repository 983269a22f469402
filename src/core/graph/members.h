/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items in sets (ranks on hosts, in parts), exchanged two by two. */
#pragma once

#include "base/error.h"

struct cpl_members {
	int *set;      /* [n] set of an item, the caller's */
	int *first;    /* [sets + 1] start of a set's items in member */
	int *member;   /* [n] items by set, ascending at first */
	int *position; /* [n] index of an item into member */
};

/* Initialise from set[n], each below n_sets, which every exchange changes as
 * well. 0, or -1 with err (memory); free in either case. O(n + n_sets). */
int cpl_members_init(struct cpl_members *members, int *set, int n, int n_sets,
                     struct cpl_error *err);
void cpl_members_free(struct cpl_members *members);

/* The counting sort of that: first[n_sets + 2], zeros, and member[n] as above,
 * for those that exchange nothing. O(n + n_sets). */
void cpl_members_list(const int *set, int n, int n_sets, int *first,
                      int *member);

/* Chains of the items of a set, ascending: first[n_sets], next[n], -1 at the
 * end. O(n + n_sets). */
void cpl_members_chain(const int *set, int n, int n_sets, int *first,
                       int *next);

/* Exchange items a and b. O(1). */
static inline void cpl_members_swap(struct cpl_members *m, int a, int b)
{
	int set = m->set[a], at = m->position[a];

	m->set[a] = m->set[b];
	m->set[b] = set;
	m->position[a] = m->position[b];
	m->position[b] = at;
	m->member[m->position[a]] = a;
	m->member[m->position[b]] = b;
}
