/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is shared between the importers only. */
#pragma once

#include "base/lines.h"
#include "signature/import/import.h"
#include "signature/signature_internal.h"

/* This is a phase of a format that tells several. */
struct import_phase {
	char name[80];
	double weight;
	struct entry_list list; /* one execution */
};

struct matrix {
	int ranks; /* 0: not stated, the largest rank decides */
	struct entry_list list;
	struct import_phase *phase; /* [n_phases], instead of the list */
	int n_phases;
	int ep;    /* 0: not stated */
	bool step; /* of training: without what comes before the first one */
	json_t *communication; /* what is told of groups, for "recorded" */
	const char *lost; /* what the files tell and this cannot hold, or NULL */
	char lost_text[240]; /* see import_lost */
	void *state;         /* of a format that reads several files */
};

/* This sets lost to a text that differs from file to file. */
void import_lost(struct matrix *m, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* These read the whole next field as a number. They return 1, or 0 at the line's
 * end, or -1 with err. Integers lie in [low, high], amounts in 0 to 1e18. */
int import_integer(struct cpl_lines *in, const char *what, int64_t low,
                   int64_t high, int64_t *out);
int import_amount(struct cpl_lines *in, const char *what, double *out);

enum import_flags {
	IMPORT_FILES = 1, /* several files make one matrix */
	IMPORT_STEPS = 2, /* of training: takes `ranks`, `ep` and `step` */
};

struct import_format {
	CPL_ENTRY;
	/* This is called for each file. It returns 0, or -1 with in->err. */
	int (*read)(struct cpl_lines *in, struct matrix *out);
	/* This is called after the last one, if it is not NULL. It frees state
	 * where it fails, too. */
	int (*finish)(struct matrix *out, struct cpl_error *err);
	void (*release)(void *state); /* frees state that is not finished */
};
