/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the patterns of the NAS Parallel Benchmarks, MPI, version 3.3. */
#ifndef CPL_SIGNATURE_PATTERN_NPB_H
#define CPL_SIGNATURE_PATTERN_NPB_H

#include "signature/pattern/pattern.h"

struct npb_class {
	char letter;
	int size; /* points along each axis */
	int iterations;
};

/*
 * Take "class" (a letter of the table, which ends with letter 0) and "ranks"
 * into p->npb_size, p->npb_iterations and p->ranks. -1 with err.
 */
int npb_parse(const json_t *params, const struct npb_class *table,
              struct pattern *p, struct cpl_error *err);

/* Points of block `i` of `blocks`: the first ones get what is left over. */
static inline int npb_extent(int size, int blocks, int i)
{
	return size / blocks + (i < size % blocks);
}

#endif
