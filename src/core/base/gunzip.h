/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that may be gzipped (RFC 1952), through zlib where that is built in. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * As cpl_file_read; a file that begins as gzip does is uncompressed, to at most
 * max bytes (under 4 GiB), whatever its name. Several members are one text. NULL
 * with err "FILE: reason". O(bytes), memory up to twice the text.
 */
char *cpl_file_read_gunzip(const char *path, uint64_t max, size_t *length,
                           struct cpl_error *err);
