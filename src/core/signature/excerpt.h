/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Excerpt of a profile: the traffic inside each node of one job step, small
 * enough to travel with the step's launch. Bytes only, both ways added up;
 * messages are left out. Nodes that look alike share one copy.
 *
 * Layout (numbers are LEB128 varints unless stated):
 *   "CPX1"  length of name, name  ranks  nodes
 *   for each node: tasks; if any, FNV-1a of their ids (4 bytes, little-endian)
 *           and the index of its block; when that is the number of blocks
 *           seen so far, the block's length and the block follow
 *   FNV-1a of all that (4 bytes)
 * A block has for each task i the number of partners j > i, then for each the
 * difference to the one before (the first: to i) and the bytes: 2 * bytes
 * when that is whole, else 1 and a double of 8 bytes, little-endian.
 */
#ifndef CPL_SIGNATURE_EXCERPT_H
#define CPL_SIGNATURE_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "signature/comm.h"

/* What readers accept at the most. */
#define CPL_EXCERPT_MAX_BYTES (512 << 10)

/* The tasks of a step: tasks[n] ids on node n. */
struct cpl_excerpt_step {
	int ranks;
	int n_nodes;
	const uint16_t *tasks;
	uint32_t *const *ids;
};

/*
 * Write an excerpt of graph (symmetric, step->ranks ranks) for a profile of
 * this name. Refused: other rank counts, ids that are no ranks, more than
 * limit bytes. The result is free()d by the caller; NULL with err.
 * O(entries of graph + ranks * log).
 */
unsigned char *cpl_excerpt_write(const struct cpl_comm *graph, const char *name,
                                 const struct cpl_excerpt_step *step,
                                 size_t limit, size_t *size,
                                 struct cpl_error *err);

/* Is this, as far as its head says, an excerpt of the profile `name`? */
bool cpl_excerpt_is_of(const void *data, size_t size, const char *name);

/*
 * The traffic among the tasks ids[n_tasks] of a node, i < j only. Nothing of
 * the data is trusted: damaged, truncated and oversized ones, and those of
 * other ranks, are refused. NULL with err. O(size).
 */
struct cpl_comm *cpl_excerpt_read(const void *data, size_t size, int ranks,
                                  int node, const uint32_t *ids, int n_tasks,
                                  struct cpl_error *err);

#endif
