/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NumPy's format, version 1.0 (NEP 1), has a magic number, its version, the length
 * of the header, the header as a Python dictionary padded to 64 bytes, and the
 * numbers. */
#include <string.h>

#include "signature/export/export_internal.h"

/* The numbers are little endian on any machine. */
static void put_double(FILE *out, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 0; i < 8; i++)
		putc((int)(bits >> (8 * i) & 0xff), out);
}

static void write_npy(FILE *out, const struct cpl_comm *comm, const char *name)
{
	char header[128];
	int n = snprintf(header, sizeof(header),
	                 "{'descr': '<f8', 'fortran_order': False, 'shape': "
	                 "(%d, %d), }",
	                 comm->ranks, comm->ranks);

	(void)name;
	fwrite("\x93NUMPY\x01", 1, 8, out);
	putc(118, out);
	putc(0, out);
	fprintf(out, "%s%*s\n", header, 118 - n - 1, "");
	for (int r = 0; r < comm->ranks; r++) {
		int64_t i = comm->row[r];

		for (int to = 0; to < comm->ranks; to++)
			put_double(out, export_next(comm, r, to, &i));
	}
}

const struct export_format export_npy = {
        .name = "npy",
        .summary = "a dense NumPy array",
        .flags = EXPORT_DENSE,
        .lost = "numbers of messages",
        .write = write_npy,
};
