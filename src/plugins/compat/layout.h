/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are the structures of the daemon that has loaded us those that we were built
 * with? A micro release or a distributor's patch may have changed them under an
 * unchanged name. Three looks, each of which can refuse:
 *
 * - at load, the offset and size of each field that is used (layout_fields.h),
 *   in the debug information of the daemon's program where there is some: what
 *   differs is told by its name;
 * - of the first record of each kind, its size, which Slurm's allocator knows
 * of each block, and the mark that Slurm puts into records of some kinds;
 * - of slurm_conf, which is no such block, the size that the library has it
 * with.
 *
 * Without debug information, what has the right size, its mark in the right
 * place and another order of fields is not noticed.
 */
#ifndef CPL_COMPAT_LAYOUT_H
#define CPL_COMPAT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/debuginfo.h"
#include "base/error.h"

#define CPLSLURM_FIELD_AT(of, field)                                           \
	{#of, #field, offsetof(of, field), sizeof(((of *)NULL)->field)},

/*
 * Look at a daemon's program, from its plugin's init(). Where a field is not
 * where we have it, this is said, and nothing is ours from then on. The fields
 * that are as they should be; 0: its program tells nothing. O(its size).
 */
int cplslurm_layout_probe(const char *program, const struct cpl_field *field,
                          size_t n);

struct cplslurm_layout {
	const char *name;
	size_t size;
	/* 4 bytes that each record has there; 0: it has none. */
	size_t mark_at;
	uint32_t mark;
	enum { CPLSLURM_UNKNOWN, CPLSLURM_OURS, CPLSLURM_ANOTHER } found;
};

#define CPLSLURM_LAYOUT(type)                                                  \
	{                                                                      \
		.name = #type, .size = sizeof(type)                            \
	}
/* Of those that Slurm marks. */
#define CPLSLURM_MARKED(type, number)                                          \
	{                                                                      \
		.name = #type, .size = sizeof(type),                           \
		.mark_at = offsetof(type, magic), .mark = (number)             \
	}

/*
 * Look at one such structure of Slurm's allocator, the first that comes: what
 * was found holds for all that follow, and is said once where it is another.
 * NULL: nothing to look at, which is as good as ours. O(1).
 */
bool cplslurm_is_ours(struct cplslurm_layout *layout, const void *record);

/* What slurm_conf takes here; as much as ours where that cannot be told. 0: the
 * program has none. */
size_t cplslurm_conf_size(void);
/* Is it ours? No daemon's plugin can do without: -1 with err. */
int cplslurm_conf_check(struct cpl_error *err);

#endif
