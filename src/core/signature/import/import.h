/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication matrices of other tools as signatures of one phase. */
#ifndef CPL_SIGNATURE_IMPORT_H
#define CPL_SIGNATURE_IMPORT_H

#include <stddef.h>

#include "base/registry.h"
#include "signature/signature.h"

extern const struct cpl_registry cpl_importers;

/*
 * Read a file, or a text, into a signature of that name and application (may be
 * NULL) with one phase "all" of weight 1. NULL with err "FILE:LINE: reason".
 * O(text + entries log entries).
 *
 *   coo        lines "src dst bytes [messages]" (messages: 1), "#" comments;
 *              "# ranks N" states the ranks, else the largest rank does
 *   mtx        Matrix Market, coordinate, real, integer or pattern, general or
 *              symmetric, counted from 1; the values are bytes (pattern: 1)
 *   treematch  a dense square matrix of bytes, one row a line
 */
struct cpl_signature *cpl_signature_import(const char *path, const char *format,
                                           const char *name,
                                           const char *application,
                                           struct cpl_error *err);
struct cpl_signature *
cpl_signature_import_text(const char *text, size_t length, const char *source,
                          const char *format, const char *name,
                          const char *application, struct cpl_error *err);

#endif
