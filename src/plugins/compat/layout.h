/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This compares the structures of the daemon that has loaded us with those that we
 * were built with: a micro release or a distributor's patch may have changed them
 * under an unchanged name. It looks three times, and each look can refuse:
 *
 * - At load it looks at the offset and size of each field that is used
 *   (layout_fields.h), in the debug information of the daemon's program where there
 *   is some, and tells by its name what differs.
 * - Of the first record of each kind it looks at the size, which Slurm's allocator
 *   knows of each block, and at the mark that Slurm puts into some kinds.
 * - Of slurm_conf, which is no such block, it looks at the size in the library.
 *
 * Without debug information, what has the right size, its mark in the right
 * place and another order of fields is not noticed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/debuginfo.h"
#include "base/error.h"

#define CPLSLURM_FIELD_AT(of, field)                                           \
	{#of, #field, offsetof(of, field), sizeof(((of *)NULL)->field)},

/* In a plugin's init(), look at its daemon's program. Where a field is not where we
 * have it, this is logged, and nothing is ours from then on. Return how many fields
 * are as they should be, 0 where the program tells nothing. O(its size). */
int cplslurm_layout_probe(const char *program, const struct cpl_field *field,
                          size_t n);

struct cplslurm_layout {
	const char *name;
	size_t size;
	/* Each record has mark at mark_at; where it has none, mark is 0. */
	size_t mark_at;
	uint32_t mark;
	enum { CPLSLURM_UNKNOWN, CPLSLURM_OURS, CPLSLURM_ANOTHER } found;
};

#define CPLSLURM_LAYOUT(type)                                                  \
	{                                                                      \
		.name = #type, .size = sizeof(type)                            \
	}
/* This is for structures that Slurm marks. */
#define CPLSLURM_MARKED(type, number)                                          \
	{                                                                      \
		.name = #type, .size = sizeof(type),                           \
		.mark_at = offsetof(type, magic), .mark = (number)             \
	}

/* Look at the first structure of this kind that comes from Slurm's allocator. What
 * is found holds for all that follow, and is logged once where it is not ours. NULL
 * gives nothing to look at, which is as good as ours. O(1). */
bool cplslurm_is_ours(struct cplslurm_layout *layout, const void *record);

/* Return the size of slurm_conf in this program: that of ours where it cannot be
 * told, 0 where the program has none. */
size_t cplslurm_conf_size(void);
/* Return 0 where it is ours, else -1 with err: no daemon's plugin works
 * otherwise. */
int cplslurm_conf_check(struct cpl_error *err);
