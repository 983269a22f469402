/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole files in and out. Regular files only: a FIFO or a device could block
 * the scheduler that reads it.
 */
#ifndef CPL_BASE_FILE_H
#define CPL_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Read a regular file of at most max bytes. The result is NUL-terminated (the
 * file may hold NULs too) and free()d by the caller; *length is without the
 * terminator. NULL with err "FILE: reason". O(bytes).
 */
char *cpl_file_read(const char *path, uint64_t max, size_t *length,
                    struct cpl_error *err);

/*
 * Write a file through a temporary one in the same folder and a rename, so
 * that a reader sees the old file or the new one, never a half. Mode is the
 * file's permission bits. Not synced to disk: the caller may be the scheduler.
 * Refused: a path that is something else than a regular file. 0, or -1.
 */
int cpl_file_write_atomic(const char *path, const void *data, size_t length,
                          int mode, struct cpl_error *err);

/*
 * The same for output that is made piece by piece: print to the stream (its
 * error flag is looked at in the end), then commit or abandon; both free the
 * writer, and only commit leaves a file.
 */
struct cpl_file_writer;
struct cpl_file_writer *cpl_file_open_atomic(const char *path,
                                             struct cpl_error *err);
FILE *cpl_file_stream(struct cpl_file_writer *writer);
int cpl_file_commit(struct cpl_file_writer *writer, int mode,
                    struct cpl_error *err);
void cpl_file_abandon(struct cpl_file_writer *writer);

/* "DIR/NAME" for the caller to free; NULL when memory is out. */
char *cpl_path_join(const char *dir, const char *name, struct cpl_error *err);

#endif
