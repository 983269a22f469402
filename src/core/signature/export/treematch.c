/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/export/export_internal.h"

static void write_treematch(FILE *out, const struct cpl_comm *comm,
                            const char *name)
{
	(void)name;
	for (int r = 0; r < comm->ranks; r++) {
		int64_t i = comm->row[r];

		for (int to = 0; to < comm->ranks; to++) {
			if (to)
				putc(' ', out);
			export_number(out, export_next(comm, r, to, &i));
		}
		putc('\n', out);
	}
}

const struct export_format export_treematch = {
        .name = "treematch",
        .summary = "a dense square matrix",
        .flags = EXPORT_DENSE,
        .lost = "numbers of messages",
        .write = write_treematch,
};
