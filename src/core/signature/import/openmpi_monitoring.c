/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open MPI writes this with --mca pml_monitoring_enable, a file for each rank:
 *
 *	# POINT TO POINT
 *	I	0	1	1024 bytes	3 msgs sent	0,0,...
 *
 * I and E are messages from the first rank to the second, of the library itself
 * (collectives among them) and of the program, or both together. S is what the
 * first rank put there by one-sided operations, and R is what it got from there. C,
 * D, O2A, A2O and A2A sum up calls of collectives, whose messages are counted
 * above.
 */
#include <string.h>

#include "signature/import/import_internal.h"

/* This reads a number and its unit. It returns 1, or 0 where one of them is
 * missing, or -1 with err. */
static int amount(struct cpl_lines *in, const char *what, const char *unit,
                  double *out)
{
	int rc = import_amount(in, what, out);

	return rc == 1 ? !cpl_lines_end(in) && cpl_lines_take_word(in, unit)
	               : rc;
}

static int read_traffic(struct cpl_lines *in, struct matrix *out)
{
	bool reversed = *in->p == 'R';
	struct cpl_comm_entry e = {0, 0, 0.0, 0.0};
	int64_t rank[2] = {0, 0};
	int rc;

	in->p++;
	rc = import_integer(in, "first rank", 0, CPL_SIGNATURE_MAX_RANKS - 1,
	                    &rank[0]);
	if (rc == 1)
		rc = import_integer(in, "second rank", 0,
		                    CPL_SIGNATURE_MAX_RANKS - 1, &rank[1]);
	if (rc == 1)
		rc = amount(in, "bytes", "bytes", &e.bytes);
	if (rc == 1)
		rc = amount(in, "messages", "msgs", &e.messages);
	if (rc < 0)
		return -1;
	if (!rc)
		return cpl_lines_fail(in, "two ranks, \"N bytes\" and \"N msgs "
		                          "sent\" are needed");
	e.from = (int)rank[reversed];
	e.to = (int)rank[!reversed];
	return entry_push(&out->list, &e, in->err);
}

static bool begins(const struct cpl_lines *in, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(in->line_end - in->p) > n &&
	       !memcmp(in->p, word, n) && in->p[n] == '\t';
}

static int read_monitoring(struct cpl_lines *in, struct matrix *out)
{
	static const char *const traffic[] = {"I", "E", "S", "R"};
	static const char *const sums[] = {"C", "D", "O2A", "A2O", "A2A"};

	while (cpl_lines_next(in)) {
		int known = in->p == in->line_end || *in->p == '#' ||
		            *in->p == '\r';

		for (int i = 0; i < 4; i++)
			if (begins(in, traffic[i]))
				known = read_traffic(in, out) ? -1 : 1;
		for (int i = 0; i < 5 && !known; i++)
			known = begins(in, sums[i]);
		if (known < 0)
			return -1;
		if (!known)
			return cpl_lines_fail(in, "is not a line of Open MPI's "
			                          "monitoring");
	}
	return 0;
}

const struct import_format import_openmpi_monitoring = {
        .name = "openmpi-monitoring",
        .summary = "files of Open MPI's monitoring",
        .flags = IMPORT_FILES,
        .read = read_monitoring,
};
