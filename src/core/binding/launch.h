/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the nodes of a job step need to bind its tasks, small enough to travel
 * with the step's launch: the algorithm, and the profile's traffic inside each
 * node (the excerpt), or which version of its file to look into, or why
 * there is neither. A client hands it on, so that it names no path. Bytes only,
 * both ways added up. Nodes that look alike share one copy.
 *
 * Layout (numbers are LEB128 varints, texts a length and bytes, unless stated):
 *   "CPX2"  kind  flags (1: memory, 2: own profiles)  profile  binder; then, by
 *   kind,
 *   rows: ranks  nodes
 *     for each node: tasks; if any, FNV-1a of their ids (4 bytes,
 *           little-endian) and the index of its block; when that is the number
 *           of blocks seen so far, the block's length and the block follow
 *   file: ranks  size  seconds  nanoseconds
 *   nothing: reason
 *   FNV-1a of all that (4 bytes)
 * A block has for each task i the number of partners j > i, then for each the
 * difference to the one before (the first: to i) and the bytes: 2 * bytes
 * when that is whole, else 1 and a double of 8 bytes, little-endian.
 */
#ifndef CPL_BINDING_LAUNCH_H
#define CPL_BINDING_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/comm.h"

/* What readers accept at the most. */
#define CPL_LAUNCH_MAX_BYTES (512 << 10)
#define CPL_LAUNCH_NAME_MAX 255

enum cpl_launch_kind {
	CPL_LAUNCH_ROWS,
	CPL_LAUNCH_FILE, /* of more ranks than the step has, or too large */
	CPL_LAUNCH_NOTHING,
};

struct cpl_launch {
	enum cpl_launch_kind kind;
	bool memory; /* tasks get the memory next to their cores only */
	bool own;    /* a step may name another profile */
	char profile[CPL_LAUNCH_NAME_MAX + 1];
	char binder[CPL_LAUNCH_NAME_MAX + 1];
	int ranks;           /* of the profile */
	/* File: the version of it that is meant. */
	int64_t size, seconds, nanoseconds;
	char reason[CPL_ERROR_MAX]; /* nothing: why */
};

/* The tasks of a step: tasks[n] ids on node n. */
struct cpl_launch_step {
	int ranks;
	int n_nodes;
	const uint16_t *tasks;
	uint32_t *const *ids;
	bool part; /* it may be one of several that count their ranks together
	            * (components of a heterogeneous job) */
};

/*
 * Write a launch; for rows with those of graph (symmetric, step->ranks ranks),
 * else both may be NULL. Refused: other rank counts, ids that are no ranks,
 * more than limit bytes (*full is then set). The result is free()d by the
 * caller; NULL with err. O(entries of graph + ranks * log).
 */
unsigned char *cpl_launch_write(const struct cpl_launch *launch,
                                const struct cpl_comm *graph,
                                const struct cpl_launch_step *step,
                                size_t limit, size_t *size, bool *full,
                                struct cpl_error *err);

/*
 * Read all but the rows. Nothing of the data is trusted: damaged, truncated and
 * oversized ones are refused. -1 with err. O(size).
 */
int cpl_launch_read(const void *data, size_t size, struct cpl_launch *out,
                    struct cpl_error *err);

/*
 * The rows: the traffic among the tasks ids[n_tasks] of a node, i < j only.
 * Those of other ranks are refused. NULL with err. O(size).
 */
struct cpl_comm *cpl_launch_rows(const void *data, size_t size, int ranks,
                                 int node, const uint32_t *ids, int n_tasks,
                                 struct cpl_error *err);

#endif
