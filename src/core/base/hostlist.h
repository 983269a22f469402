/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host lists in Slurm's notation: "n[0-3,7],login1", leading zeros kept
 * ("nid[00000-00003]"), several brackets per name ("c[0-1]n[0-3]": the last
 * bracket varies fastest).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* An ordered list of host names; duplicates are kept as given. */
struct cpl_hostlist {
	char **name; /* [count], each owned by the list */
	int count;
};

/* More hosts than this in one expression are refused. */
#define CPL_HOSTLIST_MAX 4194304

/* Expand text into list, which is not freed before. 0, or -1 with err and the
 * list {0}. Text "" is the empty list. O(hosts). */
int cpl_hostlist_parse(struct cpl_hostlist *list, const char *text,
		       struct cpl_error *err);

/* The same of at most so many hosts: more are refused before they are expanded.
 */
int cpl_hostlist_parse_most(struct cpl_hostlist *list, const char *text,
                            int most, struct cpl_error *err);

/* Append a copy of name. 0, or -1 when memory is out. Amortised O(1). */
int cpl_hostlist_push(struct cpl_hostlist *list, const char *name,
		      struct cpl_error *err);

/* at[i] = where name i of `of` stands in list, or -1. 0, or -1 with err (memory).
 * O(n log n). */
int cpl_hostlist_find(const struct cpl_hostlist *list,
                      const struct cpl_hostlist *of, int *at,
                      struct cpl_error *err);

/* Text of n names in their order, to free(): neighbours that differ in a number
 * at the end only are folded ("n[0-3,7]"). NULL when memory is out. O(n). */
char *cpl_hostlist_format(char *const *name, int n);

/* Does the name come behind the one before in a range of such text? */
bool cpl_hostlist_follows(const char *before, const char *name);
/* The text of those of n names whose bits are set, the first in the lowest bit of
 * word[0]; follows has the bits of names that follow the one before. NULL: memory.
 * O(n / 64 + runs of names that follow each other). */
char *cpl_hostlist_format_bits(char *const *name, int n, const uint64_t *word,
                               const uint64_t *follows);

/* Free the names and reset the list to {0}. */
void cpl_hostlist_free(struct cpl_hostlist *list);
