/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This reads communication matrices of other tools as signatures. */
#pragma once

#include <stddef.h>

#include "base/registry.h"
#include "signature/signature.h"

extern const struct cpl_registry cpl_importers;

/* What a format of training steps takes besides. Zero-initialise it: other
 * formats refuse what is set. */
struct cpl_import_options {
	int ranks; /* 0: the file says */
	int ep;    /* the same of the ranks that experts are spread over */
	bool step; /* leave out what comes before the first step */
};

/*
 * This reads files, or a text, into a signature of that name and application (may
 * be NULL) with one phase "all" of weight 1. "left_out" in sig->recorded says what
 * the format tells and a signature does not keep. It returns NULL with err
 * "FILE:LINE: reason". It costs O(text + entries log entries).
 *
 *   coo        lines "src dst bytes [messages]" (messages: 1), "#" comments;
 *              "# ranks N" states the ranks, else the largest rank does
 *   mtx        Matrix Market, coordinate, real, integer or pattern, general or
 *              symmetric, counted from 1; the values are bytes (pattern: 1)
 *   treematch  a dense square matrix of bytes, one row a line
 *   npy        a NumPy array of two dimensions, of integers or floats
 *   goal       a schedule of GOAL: its sends (Hoefler, Siebert, Lumsdaine 2009,
 *              "Group operation assembly language")
 *   openmpi-monitoring  what Open MPI's pml_monitoring writes, of all ranks
 *   ipm        IPM's XML with its table of calls
 *   mpip       a report of mpiP: collectives only, it tells no receivers
 *   nccl-inspector      records of NCCL's or RCCL's Inspector, JSON lines, of all
 *              processes; collectives as rings over their communicator
 *   chakra     execution traces of Chakra, NAME.RANK.et of all ranks; the same
 *   aicb       a workload of AICB, CSV: a phase for each of init and step, group and
 *              operation; see aicb.c
 *
 * With openmpi-monitoring, nccl-inspector and chakra there is a file for each
 * process, and n files make one matrix. For the others n is 1. Files may be
 * gzipped.
 */
struct cpl_signature *
cpl_signature_import(const char *const *path, int n, const char *format,
                     const struct cpl_import_options *options, const char *name,
                     const char *application, struct cpl_error *err);
/* The same of one text, without options. */
struct cpl_signature *
cpl_signature_import_text(const char *text, size_t length, const char *source,
                          const char *format, const char *name,
                          const char *application, struct cpl_error *err);

/* This does the same with n entries, which it reorders, that somebody else has read
 * from `source`. `lost` says what is left out, or is NULL. It costs O(n log n). */
struct cpl_signature *
cpl_signature_import_entries(struct cpl_comm_entry *entry, int64_t n, int ranks,
                             const char *lost, const char *source,
                             const char *format, const char *name,
                             const char *application, struct cpl_error *err);
