/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This reads the Matrix Market exchange format: Boisvert, Pozo, Remington, NISTIR
 * 5935. */
#include "signature/import/import_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct mtx_header {
	bool pattern, symmetric;
	int64_t size, entries;
};

static int banner(struct cpl_lines *in, struct mtx_header *h)
{
	char line[128], object[16] = "", format[16] = "", field[16] = "";
	char symmetry[20] = "";
	size_t n;

	if (!cpl_lines_next(in))
		return cpl_lines_fail(in, "is empty; it must start with "
		                          "%%%%MatrixMarket");
	n = (size_t)(in->line_end - in->p);
	n = n < sizeof(line) - 1 ? n : sizeof(line) - 1;
	memcpy(line, in->p, n);
	line[n] = '\0';
	if (sscanf(line, "%%%%MatrixMarket %15s %15s %15s %19s", object, format,
	           field, symmetry) != 4)
		return cpl_lines_fail(in,
		                      "must be \"%%%%MatrixMarket matrix "
		                      "coordinate real general\" or similar");
	if (strcasecmp(object, "matrix") || strcasecmp(format, "coordinate"))
		return cpl_lines_fail(in,
		                      "%s %s cannot be read; matrix coordinate "
		                      "is needed",
		                      object, format);
	h->pattern = !strcasecmp(field, "pattern");
	if (!h->pattern && strcasecmp(field, "real") &&
	    strcasecmp(field, "integer"))
		return cpl_lines_fail(in,
		                      "%s values cannot be read; real, integer "
		                      "or pattern are needed",
		                      field);
	h->symmetric = !strcasecmp(symmetry, "symmetric");
	if (!h->symmetric && strcasecmp(symmetry, "general"))
		return cpl_lines_fail(in,
		                      "%s matrices cannot be read; general or "
		                      "symmetric are needed",
		                      symmetry);
	return 0;
}

/* This moves to the next line that is neither blank nor a comment. */
static int data_line(struct cpl_lines *in)
{
	while (cpl_lines_next(in))
		if (!cpl_lines_end(in) && *in->p != '%')
			return 1;
	return 0;
}

static int size_line(struct cpl_lines *in, struct mtx_header *h)
{
	int64_t columns = 0;
	int rc = 0;

	if (data_line(in))
		rc = import_integer(in, "rows", 1, CPL_SIGNATURE_MAX_RANKS,
		                    &h->size);
	if (rc == 1)
		rc = import_integer(in, "columns", 1, CPL_SIGNATURE_MAX_RANKS,
		                    &columns);
	if (rc == 1)
		rc = import_integer(in, "entries", 0, INT64_MAX, &h->entries);
	if (rc < 0)
		return -1;
	if (rc == 0 || !cpl_lines_end(in))
		return cpl_lines_fail(in,
		                      "the line \"rows columns entries\" is "
		                      "missing");
	if (h->size != columns)
		return cpl_lines_fail(
		        in,
		        "has %lld rows and %lld columns; a square "
		        "matrix is needed",
		        (long long)h->size, (long long)columns);
	return 0;
}

static int entry(struct cpl_lines *in, const struct mtx_header *h,
                 struct matrix *out)
{
	struct cpl_comm_entry e = {0, 0, 1.0, 1.0};
	int64_t row = 0, column = 0;
	int rc;

	rc = import_integer(in, "row", 1, h->size, &row);
	if (rc == 1)
		rc = import_integer(in, "column", 1, h->size, &column);
	if (rc == 1 && !h->pattern)
		rc = import_amount(in, "value", &e.bytes);
	if (rc < 0)
		return -1;
	if (rc == 0 || !cpl_lines_end(in))
		return cpl_lines_fail(in, "lines are %s",
		                      h->pattern ? "row column"
		                                 : "row column value");
	e.from = (int)row - 1;
	e.to = (int)column - 1;
	if (entry_push(&out->list, &e, in->err))
		return -1;
	if (!h->symmetric || e.from == e.to)
		return 0;
	e.from = (int)column - 1;
	e.to = (int)row - 1;
	return entry_push(&out->list, &e, in->err);
}

static int read_mtx(struct cpl_lines *in, struct matrix *out)
{
	struct mtx_header h = {0};
	int64_t n = 0;

	if (banner(in, &h) || size_line(in, &h))
		return -1;
	out->ranks = (int)h.size;
	for (; data_line(in); n++)
		if (entry(in, &h, out))
			return -1;
	if (n != h.entries)
		return cpl_lines_fail(in,
		                      "%lld entries were read, the size line "
		                      "promises %lld",
		                      (long long)n, (long long)h.entries);
	return 0;
}

const struct import_format import_mtx = {
        .name = "mtx",
        .summary = "Matrix Market coordinate",
        .read = read_mtx,
};
