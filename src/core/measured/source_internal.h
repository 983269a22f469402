/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* io.c */

/* Until the descriptor is ready for these events of poll(). -1: errno, ETIMEDOUT
 * at the deadline. */
int measured_wait(int fd, short events, int64_t deadline);
/* All that comes to the end, or until is_whole says so (NULL: never), as
 * cpl_measured_fetch. NULL: errno. */
char *measured_read_all(int fd, int64_t deadline,
                        bool (*is_whole)(const char *text, size_t length),
                        size_t *length);

/* http.c: the body of an answer with status 200, in place; *length is the answer's and
 * then its own. A NUL stands behind the answer. NULL with err. */
char *measured_body(char *text, size_t *length, struct cpl_error *err);
/* What a server says; where: behind "http://". */
char *measured_http(const char *source, const char *where, int64_t deadline,
                    size_t *length, struct cpl_error *err);
