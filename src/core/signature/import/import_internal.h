/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared between the importers only. */
#ifndef CPL_SIGNATURE_IMPORT_INTERNAL_H
#define CPL_SIGNATURE_IMPORT_INTERNAL_H

#include <locale.h>

#include "signature/import/import.h"
#include "signature/signature_internal.h"

/* A text that is read line by line, field by field. */
struct reader {
	const char *source;
	const char *next, *end; /* of the text */
	int line;
	const char *p, *line_end;
	locale_t c_locale;
	struct cpl_error *err;
};

struct matrix {
	int ranks; /* 0: not stated, the largest rank decides */
	struct entry_list list;
};

/* 1 with the next line, 0 at the end of the text. */
int reader_line(struct reader *r);
/* Is nothing but white space left in the line? */
int reader_at_end(struct reader *r);
/*
 * The next field as a number, whole text of it: 1, or 0 at the line's end, or
 * -1 with err. Integers lie in [low, high], amounts in 0 to 1e18.
 */
int reader_integer(struct reader *r, const char *what, int64_t low,
                   int64_t high, int64_t *out);
int reader_amount(struct reader *r, const char *what, double *out);
/* -1 with "SOURCE:LINE: ..." */
int reader_fail(struct reader *r, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

struct import_format {
	CPL_ENTRY;
	int (*read)(struct reader *r, struct matrix *out);
};


#endif
