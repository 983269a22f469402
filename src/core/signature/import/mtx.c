/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matrix Market exchange format: Boisvert, Pozo, Remington, NISTIR 5935. */
#include "signature/import/import_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct header {
	bool pattern, symmetric;
	int64_t size, entries;
};

static int banner(struct reader *r, struct header *h)
{
	char line[128], object[16] = "", format[16] = "", field[16] = "";
	char symmetry[20] = "";
	size_t n;

	if (!reader_line(r))
		return reader_fail(r, "is empty; it must start with "
		                      "%%%%MatrixMarket");
	n = (size_t)(r->line_end - r->p);
	n = n < sizeof(line) - 1 ? n : sizeof(line) - 1;
	memcpy(line, r->p, n);
	line[n] = '\0';
	if (sscanf(line, "%%%%MatrixMarket %15s %15s %15s %19s", object, format,
	           field, symmetry) != 4)
		return reader_fail(r, "must be \"%%%%MatrixMarket matrix "
		                      "coordinate real general\" or similar");
	if (strcasecmp(object, "matrix") || strcasecmp(format, "coordinate"))
		return reader_fail(r,
		                   "%s %s cannot be read; matrix coordinate "
		                   "is needed",
		                   object, format);
	h->pattern = !strcasecmp(field, "pattern");
	if (!h->pattern && strcasecmp(field, "real") &&
	    strcasecmp(field, "integer"))
		return reader_fail(r,
		                   "%s values cannot be read; real, integer "
		                   "or pattern are needed",
		                   field);
	h->symmetric = !strcasecmp(symmetry, "symmetric");
	if (!h->symmetric && strcasecmp(symmetry, "general"))
		return reader_fail(r,
		                   "%s matrices cannot be read; general or "
		                   "symmetric are needed",
		                   symmetry);
	return 0;
}

/* The next line that is neither blank nor a comment. */
static int data_line(struct reader *r)
{
	while (reader_line(r))
		if (!reader_at_end(r) && *r->p != '%')
			return 1;
	return 0;
}

static int size_line(struct reader *r, struct header *h)
{
	int64_t columns = 0;
	int rc = 0;

	if (data_line(r))
		rc = reader_integer(r, "rows", 1, CPL_SIGNATURE_MAX_RANKS,
		                    &h->size);
	if (rc == 1)
		rc = reader_integer(r, "columns", 1, CPL_SIGNATURE_MAX_RANKS,
		                    &columns);
	if (rc == 1)
		rc = reader_integer(r, "entries", 0, INT64_MAX, &h->entries);
	if (rc < 0)
		return -1;
	if (rc == 0 || !reader_at_end(r))
		return reader_fail(r, "the line \"rows columns entries\" is "
		                      "missing");
	if (h->size != columns)
		return reader_fail(r,
		                   "has %lld rows and %lld columns; a square "
		                   "matrix is needed",
		                   (long long)h->size, (long long)columns);
	return 0;
}

static int entry(struct reader *r, const struct header *h, struct matrix *out)
{
	struct cpl_comm_entry e = {0, 0, 1.0, 1.0};
	int64_t row = 0, column = 0;
	int rc;

	rc = reader_integer(r, "row", 1, h->size, &row);
	if (rc == 1)
		rc = reader_integer(r, "column", 1, h->size, &column);
	if (rc == 1 && !h->pattern)
		rc = reader_amount(r, "value", &e.bytes);
	if (rc < 0)
		return -1;
	if (rc == 0 || !reader_at_end(r))
		return reader_fail(r, "lines are %s",
		                   h->pattern ? "row column"
		                              : "row column value");
	e.from = (int)row - 1;
	e.to = (int)column - 1;
	if (entry_push(&out->list, &e, r->err))
		return -1;
	if (!h->symmetric || e.from == e.to)
		return 0;
	e.from = (int)column - 1;
	e.to = (int)row - 1;
	return entry_push(&out->list, &e, r->err);
}

static int read_mtx(struct reader *r, struct matrix *out)
{
	struct header h = {0};
	int64_t n = 0;

	if (banner(r, &h) || size_line(r, &h))
		return -1;
	out->ranks = (int)h.size;
	for (; data_line(r); n++)
		if (entry(r, &h, out))
			return -1;
	if (n != h.entries)
		return reader_fail(r,
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
