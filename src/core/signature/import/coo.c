/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/import/import_internal.h"

#include <string.h>

/* This reads "# ranks N" and passes over any other comment. */
static int comment(struct cpl_lines *in, struct matrix *out)
{
	int64_t ranks;

	in->p++;
	if (cpl_lines_end(in) || in->line_end - in->p < 5 ||
	    memcmp(in->p, "ranks", 5))
		return 0;
	in->p += 5;
	/* A comment such as "# ranks are numbered from 0" states nothing. */
	if (cpl_lines_end(in) ||
	    ((*in->p < '0' || *in->p > '9') && *in->p != '-'))
		return 0;
	if (import_integer(in, "ranks", 1, CPL_SIGNATURE_MAX_RANKS, &ranks) < 0)
		return -1;
	if (out->ranks && out->ranks != ranks)
		return cpl_lines_fail(in, "ranks %lld: an earlier line says %d",
		                      (long long)ranks, out->ranks);
	out->ranks = (int)ranks;
	return 0;
}

/* *fields is 3, or 4 with messages. */
static int entry(struct cpl_lines *in, struct matrix *out, int *fields)
{
	struct cpl_comm_entry e = {0, 0, 0.0, 1.0};
	int64_t from = 0, to = 0;
	int rc;

	rc = import_integer(in, "source rank", 0, CPL_SIGNATURE_MAX_RANKS - 1,
	                    &from);
	if (rc == 1)
		rc = import_integer(in, "destination rank", 0,
		                    CPL_SIGNATURE_MAX_RANKS - 1, &to);
	if (rc == 1)
		rc = import_amount(in, "bytes", &e.bytes);
	if (rc == 0)
		return cpl_lines_fail(in,
		                      "is too short; lines are src dst bytes "
		                      "[messages]");
	if (rc < 0)
		return -1;
	*fields = cpl_lines_done(in) ? 3 : 4;
	if (*fields == 4 && import_amount(in, "messages", &e.messages) < 0)
		return -1;
	if (!cpl_lines_done(in))
		return cpl_lines_fail(in,
		                      "is too long; lines are src dst bytes "
		                      "[messages]");
	e.from = (int)from;
	e.to = (int)to;
	return entry_push(&out->list, &e, in->err);
}

static int read_coo(struct cpl_lines *in, struct matrix *out)
{
	int fields = 0;

	while (cpl_lines_next(in)) {
		int before = fields;

		if (cpl_lines_end(in))
			continue;
		if (*in->p == '#' ? comment(in, out) : entry(in, out, &fields))
			return -1;
		if (in->line_end == in->end && fields < before)
			return cpl_lines_fail(in,
			                      "is truncated: no line end, and "
			                      "fewer fields than before");
	}
	return 0;
}

const struct import_format import_coo = {
        .name = "coo",
        .summary = "lines \"src dst bytes [messages]\"",
        .read = read_coo,
};
