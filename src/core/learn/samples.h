/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a table of numbers: what is known of a run, and how long it took. */
#ifndef CPL_LEARN_SAMPLES_H
#define CPL_LEARN_SAMPLES_H

#include <stddef.h>

#include "base/error.h"

#define CPL_SAMPLES_MAX_COLUMNS 256

struct cpl_samples {
	int n, n_columns;
	char **name;    /* [n_columns], columns without a text in them */
	double *value;  /* [n][n_columns] */
	char **label;   /* [n]: what is in columns of texts, with blanks */
};

/*
 * A CSV file in UTF-8: a head of different names, then rows of as many fields
 * without quotes. A column with a field that is no finite number is one of texts.
 * NULL with err "FILE:LINE: ...". Free with cpl_samples_free. O(bytes).
 */
struct cpl_samples *cpl_samples_load(const char *path, struct cpl_error *err);
struct cpl_samples *cpl_samples_parse(const char *text, size_t length,
                                      const char *name, struct cpl_error *err);
void cpl_samples_free(struct cpl_samples *samples);

/* The column of that name, or -1. */
int cpl_samples_column(const struct cpl_samples *samples, const char *name);

#endif
