/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared between the importers only. */
#ifndef CPL_SIGNATURE_IMPORT_INTERNAL_H
#define CPL_SIGNATURE_IMPORT_INTERNAL_H

#include "base/lines.h"
#include "signature/import/import.h"
#include "signature/signature_internal.h"

struct matrix {
	int ranks; /* 0: not stated, the largest rank decides */
	struct entry_list list;
	const char *lost; /* what of the files has no place here, or NULL */
	char lost_text[240]; /* see import_lost */
	void *state;         /* of a format that reads several files */
};

/* Set lost to a text that is not the same for all files. */
void import_lost(struct matrix *m, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* A signature of what was read, of a name and application that are checked; the
 * matrix' list stays the caller's. NULL with err. */
struct cpl_signature *import_finish(struct matrix *m, const char *format,
                                    const char *source, const char *name,
                                    const char *application,
                                    struct cpl_error *err);

/*
 * The next field as a number, whole text of it: 1, or 0 at the line's end, or
 * -1 with err. Integers lie in [low, high], amounts in 0 to 1e18.
 */
int import_integer(struct cpl_lines *in, const char *what, int64_t low,
                   int64_t high, int64_t *out);
int import_amount(struct cpl_lines *in, const char *what, double *out);

enum import_flags {
	IMPORT_FILES = 1, /* several files make one matrix */
};

struct import_format {
	CPL_ENTRY;
	/* Of each file. 0, or -1 with in->err. */
	int (*read)(struct cpl_lines *in, struct matrix *out);
	/* After the last one, if any; frees state where it fails, too. */
	int (*finish)(struct matrix *out, struct cpl_error *err);
	void (*release)(void *state); /* of what is not finished */
};

#endif
