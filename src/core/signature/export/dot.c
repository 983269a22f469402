/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This writes the language of Graphviz. */
#include "signature/export/export_internal.h"

static void put_quoted(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void write_dot(FILE *out, const struct cpl_comm *comm, const char *name)
{
	fputs("digraph ", out);
	put_quoted(out, name);
	fputs(" {\n", out);
	for (int r = 0; r < comm->ranks; r++)
		fprintf(out, "\t%d;\n", r);
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			fprintf(out, "\t%d -> %d [bytes=", r, comm->to[i]);
			export_number(out, comm->bytes[i]);
			fputs(", messages=", out);
			export_number(out, comm->messages[i]);
			fputs("];\n", out);
		}
	fputs("}\n", out);
}

const struct export_format export_dot = {
        .name = "dot",
        .summary = "a directed graph for Graphviz",
        .write = write_dot,
};
