/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/import/import_internal.h"

static int read_row(struct reader *r, int row, struct matrix *out)
{
	struct cpl_comm_entry e = {row, 0, 0.0, 1.0};
	int rc;

	while ((rc = reader_amount(r, "value", &e.bytes)) == 1) {
		if (e.to == CPL_SIGNATURE_MAX_RANKS)
			return reader_fail(r, "has more than %d columns",
			                   CPL_SIGNATURE_MAX_RANKS);
		if (e.bytes > 0.0 && entry_push(&out->list, &e, r->err))
			return -1;
		e.to++;
	}
	if (rc < 0)
		return -1;
	if (row == 0)
		out->ranks = e.to;
	if (e.to != out->ranks)
		return reader_fail(r,
		                   "has %d columns, the first row %d; a square "
		                   "matrix is needed",
		                   e.to, out->ranks);
	return 0;
}

static int read_treematch(struct reader *r, struct matrix *out)
{
	int rows = 0;

	while (reader_line(r)) {
		if (reader_at_end(r))
			continue;
		if (rows && rows == out->ranks)
			return reader_fail(
			        r, "is row %d of a matrix of %d columns",
			        rows + 1, out->ranks);
		if (read_row(r, rows, out))
			return -1;
		rows++;
	}
	if (rows != out->ranks)
		return reader_fail(r, "the matrix ends after %d rows of %d",
		                   rows, out->ranks);
	return 0;
}

const struct import_format import_treematch = {
        .name = "treematch",
        .summary = "a dense square matrix",
        .read = read_treematch,
};
