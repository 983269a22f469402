/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where measurements come from: a file; an executable file, which prints them;
 * or http://HOST[:PORT]/PATH, whose answer is the text of measured.h, or what a
 * Prometheus server answers to an instant query: there each sample has labels
 * "from" and "to", and its value is in bytes per second.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* An absolute path or such an address? -1 with err, which begins with " is". */
int cpl_measured_source_check(const char *source, struct cpl_error *err);

/*
 * The text, to free(); a NUL stands behind its *length bytes. A program that has
 * not ended by the deadline (ns) is killed with its session; of a server all
 * must be there by then, but its name is looked up for as long as that takes,
 * and files of a file system that hangs are waited for. NULL with err:
 * whatever failed, a program's exit, an executable that others than root and
 * we ourselves may write, another status than 200, more than
 * CPL_MEASURED_MAX_BYTES.
 */
char *cpl_measured_fetch(const char *source, int64_t deadline, size_t *length,
                         struct cpl_error *err);

/* A Prometheus server's answer as CSV, to free(). NULL with err. O(length). */
char *cpl_measured_from_prometheus(const char *text, size_t length,
                                   size_t *out_length, struct cpl_error *err);
