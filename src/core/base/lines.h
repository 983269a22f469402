/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text that is read line by line, with messages that name the line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cpl_lines {
	const char *source;     /* for messages */
	const char *next, *end; /* of the text */
	const char *p, *line_end;
	int line; /* from 1 */
	struct cpl_error *err;
};

/* Before the first line. */
struct cpl_lines cpl_lines_of(const char *source, const char *text,
                              size_t length, struct cpl_error *err);

/* The next line; false at the end of the text. */
bool cpl_lines_next(struct cpl_lines *in);

/* Past white space; is the line's end reached? */
bool cpl_lines_end(struct cpl_lines *in);

/* Past white space; is the line's end reached, or a comment ("#")? */
bool cpl_lines_done(struct cpl_lines *in);

/* Past this text where the line goes on with it, upper and lower case alike. */
bool cpl_lines_take(struct cpl_lines *in, const char *text);
/* The same with a blank or tab behind it. */
bool cpl_lines_take_word(struct cpl_lines *in, const char *word);

/* Past a number of at most 9 digits; false where there is none. */
bool cpl_lines_number(struct cpl_lines *in, int *out);

/* -1 with "SOURCE:LINE: ...", or that in front of the error that is there. */
int cpl_lines_fail(const struct cpl_lines *in, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
int cpl_lines_prefix(const struct cpl_lines *in);
