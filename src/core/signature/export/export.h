/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This writes communication matrices as files of other tools. */
#pragma once

#include "base/registry.h"
#include "graph/comm.h"

extern const struct cpl_registry cpl_exporters;

/*
 * This writes a matrix (atomically, mode 0644); name is for formats that have one.
 * *lost (which may be NULL) becomes a constant text that says what the format has
 * no place for, or NULL. It returns 0, or -1 with err: unknown format, too many
 * ranks for a dense one, a file that cannot be written. It costs O(entries), or
 * O(ranks^2) for dense formats.
 *
 *   coo        "# ranks N", then lines "src dst bytes messages"
 *   mtx        Matrix Market, coordinate real general, from 1: bytes
 *   treematch  a dense square matrix of bytes, one row a line
 *   npy        NumPy 1.0: a dense square matrix of bytes, float64, C order
 *   graphml    a directed graph, edges with bytes and messages
 *   dot        the same for Graphviz
 */
int cpl_comm_export(const struct cpl_comm *comm, const char *name,
                    const char *format, const char *path, const char **lost,
                    struct cpl_error *err);
