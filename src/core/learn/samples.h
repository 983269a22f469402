/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are rows of a table of numbers that tell what is known of a run, and how
 * long it took. */
#pragma once

#include <stddef.h>

#include "base/error.h"

#define CPL_SAMPLES_MAX_COLUMNS 256

struct cpl_samples {
	int n, n_columns;
	char **name;    /* [n_columns], without the columns of texts */
	double *value;  /* [n][n_columns] */
	char **label;   /* [n]: the texts of the row, with blanks between them */
};

/* This reads a CSV file in UTF-8: a head of different names, then rows of as many
 * fields without quotes. A column with a field that is no finite number is one of
 * texts. It returns NULL with err "FILE:LINE: ...". Free the result with
 * cpl_samples_free. It costs O(bytes). */
struct cpl_samples *cpl_samples_load(const char *path, struct cpl_error *err);
struct cpl_samples *cpl_samples_parse(const char *text, size_t length,
                                      const char *name, struct cpl_error *err);
void cpl_samples_free(struct cpl_samples *samples);

/* This returns the column of that name, or -1. */
int cpl_samples_column(const struct cpl_samples *samples, const char *name);
