/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are the structures of the daemon that has loaded us those that we were built
 * with? A micro release or a distributor's patch may have changed them under an
 * unchanged name. Slurm's allocator knows the size of each block, and the
 * library has the size of what it holds itself. What has the right size and
 * another order of fields is not noticed.
 */
#ifndef CPL_COMPAT_LAYOUT_H
#define CPL_COMPAT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cplslurm_layout {
	const char *name;
	size_t size;
	enum { CPLSLURM_UNKNOWN, CPLSLURM_OURS, CPLSLURM_ANOTHER } found;
};

#define CPLSLURM_LAYOUT(type)                                                  \
	{                                                                      \
		.name = #type, .size = sizeof(type)                            \
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
