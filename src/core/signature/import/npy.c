/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NumPy's format, versions 1.0 to 3.0 (NEP 1), has a magic number, its version, the
 * length of the header, the header as a Python dictionary, and the numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signature/import/import_internal.h"

/* This is a kind of numbers such as "<f8". */
struct npy_numbers {
	char kind; /* 'f', 'i', 'u' or 'b' */
	bool big;  /* endian */
	int size;  /* bytes */
};

static int fail(const struct cpl_lines *in, const char *why)
{
	return cpl_fail(in->err, "%s: %s", in->source, why);
}

/* This returns the value of a key behind its colon in the header, or NULL. */
static const char *value_of(const char *header, const char *key)
{
	char quoted[32];
	const char *at;

	snprintf(quoted, sizeof(quoted), "'%s':", key);
	at = strstr(header, quoted);
	if (!at)
		return NULL;
	at += strlen(quoted);
	while (*at == ' ')
		at++;
	return at;
}

static int read_kind(const struct cpl_lines *in, const char *header,
                     struct npy_numbers *out)
{
	const char *at = value_of(header, "descr");
	char *end;
	long size;

	if (!at || at[0] != '\'' || !at[1] || !strchr("<>|=", at[1]) ||
	    !at[2] || !strchr("fiub", at[2]))
		return fail(in, "the array is not of integers or floats");
	out->big = at[1] == '>';
	out->kind = at[2];
	size = strtol(at + 3, &end, 10);
	if (*end != '\'' || !(size == 8 || size == 4 ||
	                      (out->kind != 'f' && (size == 1 || size == 2))))
		return fail(in, "the array's numbers are of a size that cannot "
		                "be read; save it as float64");
	out->size = (int)size;
	return 0;
}

/* This reads "(N, N)". */
static int read_shape(const struct cpl_lines *in, const char *header,
                      int *ranks)
{
	const char *at = value_of(header, "shape");
	long long rows, columns;
	char more;

	if (!at || sscanf(at, "(%lld, %lld%c", &rows, &columns, &more) != 3 ||
	    more != ')')
		return fail(in, "the array has not two dimensions");
	if (rows != columns)
		return fail(in, "the array is not square");
	if (rows < 1 || rows > CPL_SIGNATURE_MAX_RANKS)
		return fail(in, "the array has too many rows, or none");
	*ranks = (int)rows;
	return 0;
}

static double number(const unsigned char *at, const struct npy_numbers *n)
{
	uint64_t bits = 0;

	for (int i = 0; i < n->size; i++)
		bits |= (uint64_t)at[n->big ? n->size - 1 - i : i] << (8 * i);
	if (n->kind == 'f' && n->size == 8) {
		double value;

		memcpy(&value, &bits, sizeof(value));
		return value;
	}
	if (n->kind == 'f') {
		uint32_t half = (uint32_t)bits;
		float value;

		memcpy(&value, &half, sizeof(value));
		return (double)value;
	}
	if (n->kind == 'i' && bits >> (8 * n->size - 1))
		return -1.0;
	return (double)bits;
}

/* This reads the numbers behind the header; by_columns means Fortran's order. */
static int read_numbers(const struct cpl_lines *in, const unsigned char *at,
                        const struct npy_numbers *n, bool by_columns,
                        struct matrix *out)
{
	size_t left = (size_t)((const unsigned char *)in->end - at);
	size_t ranks = (size_t)out->ranks;

	if (left / (size_t)n->size / ranks < ranks)
		return fail(in, "is truncated: fewer numbers than its shape "
		                "promises");
	for (size_t i = 0; i < ranks * ranks; i++, at += n->size) {
		struct cpl_comm_entry e = {(int)(i / ranks), (int)(i % ranks),
		                           number(at, n), 1.0};

		if (by_columns) {
			e.to = (int)(i / ranks);
			e.from = (int)(i % ranks);
		}
		if (!(e.bytes >= 0 && e.bytes <= SIGNATURE_MAX_AMOUNT))
			return cpl_fail(in->err,
			                "%s: [%d, %d] must lie in 0 to 1e18",
			                in->source, e.from, e.to);
		if (e.bytes > 0 && entry_push(&out->list, &e, in->err))
			return -1;
	}
	return 0;
}

/* This finds the header's length and where it begins. */
static int find_header(const struct cpl_lines *in, size_t *length,
                       const unsigned char **begin)
{
	const unsigned char *at = (const unsigned char *)in->next;
	size_t size = (size_t)(in->end - in->next), wide;

	if (size < 12 || memcmp(at, "\x93NUMPY", 6))
		return fail(in, "is not a NumPy file");
	wide = at[6] == 1 ? 2 : 4;
	*length = at[8] | (size_t)at[9] << 8;
	if (wide == 4)
		*length |= (size_t)at[10] << 16 | (size_t)at[11] << 24;
	*begin = at + 8 + wide;
	if (at[6] < 1 || at[6] > 3)
		return fail(in, "is of an unknown version of NumPy's format");
	if (*length > size - 8 - wide || *length > 65536)
		return fail(in, "is truncated in its header");
	return 0;
}

static int read_npy(struct cpl_lines *in, struct matrix *out)
{
	const unsigned char *begin = NULL;
	struct npy_numbers numbers = {0};
	size_t length = 0;
	const char *order;
	char *header;
	int rc = -1;

	if (find_header(in, &length, &begin))
		return -1;
	header = strndup((const char *)begin, length);
	if (!header)
		return cpl_fail_memory(in->err);
	order = value_of(header, "fortran_order");
	if (!order)
		fail(in, "its header has no 'fortran_order'");
	else if (!read_kind(in, header, &numbers) &&
	         !read_shape(in, header, &out->ranks))
		rc = read_numbers(in, begin + length, &numbers,
		                  !strncmp(order, "True", 4), out);
	free(header);
	return rc;
}

const struct import_format import_npy = {
        .name = "npy",
        .summary = "a square NumPy array",
        .read = read_npy,
};
