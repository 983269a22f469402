/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/import/import_internal.h"

static int read_row(struct cpl_lines *in, int row, struct matrix *out)
{
	struct cpl_comm_entry e = {row, 0, 0.0, 1.0};
	int rc;

	while ((rc = import_amount(in, "value", &e.bytes)) == 1) {
		if (e.to == CPL_SIGNATURE_MAX_RANKS)
			return cpl_lines_fail(in, "has more than %d columns",
			                      CPL_SIGNATURE_MAX_RANKS);
		if (e.bytes > 0.0 && entry_push(&out->list, &e, in->err))
			return -1;
		e.to++;
	}
	if (rc < 0)
		return -1;
	if (row == 0)
		out->ranks = e.to;
	if (e.to != out->ranks)
		return cpl_lines_fail(
		        in,
		        "has %d columns, the first row %d; a square "
		        "matrix is needed",
		        e.to, out->ranks);
	return 0;
}

static int read_treematch(struct cpl_lines *in, struct matrix *out)
{
	int rows = 0;

	while (cpl_lines_next(in)) {
		if (cpl_lines_end(in))
			continue;
		if (rows && rows == out->ranks)
			return cpl_lines_fail(
			        in, "is row %d of a matrix of %d columns",
			        rows + 1, out->ranks);
		if (read_row(in, rows, out))
			return -1;
		rows++;
	}
	if (rows != out->ranks)
		return cpl_lines_fail(in, "the matrix ends after %d rows of %d",
		                      rows, out->ranks);
	return 0;
}

const struct import_format import_treematch = {
        .name = "treematch",
        .summary = "a dense square matrix",
        .read = read_treematch,
};
