/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This writes GraphML (Brandes, Eiglsperger, Herman, Himsolt, Marshall 2002). */
#include "signature/export/export_internal.h"

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '&' || *text == '<' || *text == '>' ||
		    *text == '"')
			fprintf(out, "&#%d;", *text);
		else
			putc(*text, out);
}

static void put_edge(FILE *out, const struct cpl_comm *comm, int r, int64_t i)
{
	fprintf(out,
	        "    <edge source=\"r%d\" target=\"r%d\"><data key=\"bytes\">",
	        r, comm->to[i]);
	export_number(out, comm->bytes[i]);
	fputs("</data><data key=\"messages\">", out);
	export_number(out, comm->messages[i]);
	fputs("</data></edge>\n", out);
}

static void write_graphml(FILE *out, const struct cpl_comm *comm,
                          const char *name)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
	      "  <key id=\"bytes\" for=\"edge\" attr.name=\"bytes\" "
	      "attr.type=\"double\"/>\n"
	      "  <key id=\"messages\" for=\"edge\" attr.name=\"messages\" "
	      "attr.type=\"double\"/>\n"
	      "  <graph id=\"",
	      out);
	put_escaped(out, name);
	fputs("\" edgedefault=\"directed\">\n", out);
	for (int r = 0; r < comm->ranks; r++)
		fprintf(out, "    <node id=\"r%d\"/>\n", r);
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++)
			put_edge(out, comm, r, i);
	fputs("  </graph>\n</graphml>\n", out);
}

const struct export_format export_graphml = {
        .name = "graphml",
        .summary = "a directed graph",
        .write = write_graphml,
};
