/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/import/import_internal.h"

#include <string.h>

/* "# ranks N"; any other comment is passed over. */
static int comment(struct reader *r, struct matrix *out)
{
	int64_t ranks;

	r->p++;
	if (reader_at_end(r) || r->line_end - r->p < 5 ||
	    memcmp(r->p, "ranks", 5))
		return 0;
	r->p += 5;
	/* "# ranks are numbered from 0" states nothing. */
	if (reader_at_end(r) || ((*r->p < '0' || *r->p > '9') && *r->p != '-'))
		return 0;
	if (reader_integer(r, "ranks", 1, CPL_SIGNATURE_MAX_RANKS, &ranks) < 0)
		return -1;
	if (out->ranks && out->ranks != ranks)
		return reader_fail(r, "ranks %lld: an earlier line says %d",
		                   (long long)ranks, out->ranks);
	out->ranks = (int)ranks;
	return 0;
}

/* *fields: 3, or 4 with messages. */
static int entry(struct reader *r, struct matrix *out, int *fields)
{
	struct cpl_comm_entry e = {0, 0, 0.0, 1.0};
	int64_t from = 0, to = 0;
	int rc;

	rc = reader_integer(r, "source rank", 0, CPL_SIGNATURE_MAX_RANKS - 1,
	                    &from);
	if (rc == 1)
		rc = reader_integer(r, "destination rank", 0,
		                    CPL_SIGNATURE_MAX_RANKS - 1, &to);
	if (rc == 1)
		rc = reader_amount(r, "bytes", &e.bytes);
	if (rc == 0)
		return reader_fail(r, "is too short; lines are src dst bytes "
		                      "[messages]");
	if (rc < 0)
		return -1;
	*fields = reader_at_end(r) || *r->p == '#' ? 3 : 4;
	if (*fields == 4 && reader_amount(r, "messages", &e.messages) < 0)
		return -1;
	if (!reader_at_end(r) && *r->p != '#')
		return reader_fail(r, "is too long; lines are src dst bytes "
		                      "[messages]");
	e.from = (int)from;
	e.to = (int)to;
	return entry_push(&out->list, &e, r->err);
}

static int read_coo(struct reader *r, struct matrix *out)
{
	int fields = 0;

	while (reader_line(r)) {
		int before = fields;

		if (reader_at_end(r))
			continue;
		if (*r->p == '#' ? comment(r, out) : entry(r, out, &fields))
			return -1;
		if (r->line_end == r->end && fields < before)
			return reader_fail(r, "is truncated: no line end, and "
			                      "fewer fields than before");
	}
	return 0;
}

const struct import_format import_coo = {
        .name = "coo",
        .summary = "lines \"src dst bytes [messages]\"",
        .read = read_coo,
};
