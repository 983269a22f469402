/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This writes the Matrix Market exchange format: Boisvert, Pozo, Remington, NISTIR
 * 5935. */
#include "signature/export/export_internal.h"

static void write_mtx(FILE *out, const struct cpl_comm *comm, const char *name)
{
	fprintf(out,
	        "%%%%MatrixMarket matrix coordinate real general\n%% %s\n"
	        "%d %d %lld\n",
	        name, comm->ranks, comm->ranks,
	        (long long)comm->row[comm->ranks]);
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			fprintf(out, "%d %d ", r + 1, comm->to[i] + 1);
			export_number(out, comm->bytes[i]);
			putc('\n', out);
		}
}

const struct export_format export_mtx = {
        .name = "mtx",
        .summary = "Matrix Market coordinate",
        .lost = "numbers of messages",
        .write = write_mtx,
};
