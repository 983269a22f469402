/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data that the nodes of a job step need to bind its tasks, small enough to
 * travel with the step's launch: the algorithm, and either the profile's
 * traffic inside each node (the excerpt), or which version of its file to look
 * into, or why there is neither. A client hands it on, so it names no path.
 * Bytes only are sent, both directions added up, and nodes that look alike
 * share one copy.
 *
 * The layout is (numbers are LEB128 varints, texts a length and bytes, unless
 * stated):
 *   "CPX2"  kind  flags (1: memory, 2: own profiles, 4: nic)  profile  binder
 *   and, with that flag, nic; then, by kind,
 *   rows: ranks  nodes
 *     for each node: tasks; if any, FNV-1a of their ids (4 bytes,
 *           little-endian) and the index of its block; when that is the number
 *           of blocks seen so far, the block's length and the block follow
 *   file: ranks  size  seconds  nanoseconds
 *   nothing: reason
 *   FNV-1a of all that (4 bytes)
 * A block has for each task i the number of partners j > i, then for each the
 * difference to the one before (the first: to i) and the bytes: 2 * bytes when
 * that is whole, else 1 and a double of 8 bytes, little-endian.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/comm.h"

/* Readers accept no more than this. */
#define CPL_LAUNCH_MAX_BYTES (512 << 10)
#define CPL_LAUNCH_NAME_MAX 255

enum cpl_launch_kind {
	CPL_LAUNCH_ROWS,
	CPL_LAUNCH_FILE, /* it has more ranks than the step, or is too large */
	CPL_LAUNCH_NOTHING,
};

struct cpl_launch {
	enum cpl_launch_kind kind;
	bool memory; /* tasks only get the memory next to their cores */
	bool own;    /* a step may name another profile */
	char profile[CPL_LAUNCH_NAME_MAX + 1];
	char binder[CPL_LAUNCH_NAME_MAX + 1];
	/* Tasks are told of the adapter near their GPUs: "yes", or variables
	 * that get it, too, see cpl_nic_value; empty: they are not. */
	char nic[CPL_LAUNCH_NAME_MAX + 1];
	int ranks;           /* of the profile */
	/* For a file: the version that is meant. */
	int64_t size, seconds, nanoseconds;
	char reason[CPL_ERROR_MAX]; /* for nothing: why */
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

/* Writes a launch. For rows, graph (symmetric, of step->ranks ranks) and step
 * are needed; else both may be NULL. Other rank counts, ids that are no ranks,
 * and more than `limit` bytes are refused; in the last case *full is set.
 * Returns bytes to free(), or NULL with err, in O(entries of graph + ranks *
 * log). */
unsigned char *cpl_launch_write(const struct cpl_launch *launch,
                                const struct cpl_comm *graph,
                                const struct cpl_launch_step *step,
                                size_t limit, size_t *size, bool *full,
                                struct cpl_error *err);

/* Reads all but the rows. It trusts nothing of the data, and refuses damaged,
 * truncated and oversized ones. Returns 0, or -1 with err, in O(size). */
int cpl_launch_read(const void *data, size_t size, struct cpl_launch *out,
                    struct cpl_error *err);

/* Reads the rows: the traffic among the tasks ids[n_tasks] of a node, i < j
 * only. Rows of other ranks are refused. NULL with err. O(size). */
struct cpl_comm *cpl_launch_rows(const void *data, size_t size, int ranks,
                                 int node, const uint32_t *ids, int n_tasks,
                                 struct cpl_error *err);
