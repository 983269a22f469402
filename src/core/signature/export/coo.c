/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/export/export_internal.h"

static void write_coo(FILE *out, const struct cpl_comm *comm, const char *name)
{
	fprintf(out, "# %s\n# ranks %d\n", name, comm->ranks);
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			fprintf(out, "%d %d ", r, comm->to[i]);
			export_number(out, comm->bytes[i]);
			putc(' ', out);
			export_number(out, comm->messages[i]);
			putc('\n', out);
		}
}

const struct export_format export_coo = {
        .name = "coo",
        .summary = "lines \"src dst bytes messages\"",
        .write = write_coo,
};
