/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPM's XML has a table of calls with IPM_LOG=full, and one tag per line as IPM 2
 * writes it:
 *
 *	<task ipm_version="2.0.6" ... mpi_rank="0" mpi_size="4" ... >
 *	<hent key="..." call="MPI_Isend" bytes="8192" orank="1" ... count="30" ...>
 *
 * orank counts in MPI_COMM_WORLD, and bytes are of one call. IPM keeps no
 * communicator of collective operations, so they are taken as of all ranks. bytes
 * is what a rank sends (to each rank in an all-to-all; what it gets in a scatter),
 * and where there are counts for each rank it is the one of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "signature/import/calls.h"

struct ipm {
	int rank;   /* of the task that the line is in, or -1 */
	bool *seen; /* [ranks] */
	struct import_calls calls;
	bool complete;
};

/* This copies the value of an attribute of the line's tag into text, or returns
 * false if there is none. */
static bool attribute(const char *line, const char *name, char *text,
                      size_t size)
{
	size_t length = strlen(name);
	const char *at = line, *end;

	while ((at = strstr(at, name))) {
		if (at > line && at[-1] == ' ' && at[length] == '=' &&
		    at[length + 1] == '"')
			break;
		at += length;
	}
	if (!at)
		return false;
	at += length + 2;
	end = strchr(at, '"');
	if (!end || (size_t)(end - at) >= size)
		return false;
	memcpy(text, at, (size_t)(end - at));
	text[end - at] = '\0';
	return true;
}

static int integer(struct cpl_lines *in, const char *line, const char *name,
                   int64_t low, int64_t high, int64_t *out)
{
	char text[32], *end;

	if (!attribute(line, name, text, sizeof(text)))
		return cpl_lines_fail(in, "the tag has no %s=\"...\"", name);
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (end == text || *end || errno || *out < low || *out > high)
		return cpl_lines_fail(in,
		                      "%s: '%s' is not an integer in %lld to "
		                      "%lld",
		                      name, text, (long long)low,
		                      (long long)high);
	return 0;
}

static int begin_task(struct cpl_lines *in, const char *line, struct ipm *ipm,
                      struct matrix *out)
{
	int64_t ranks = 0, rank = 0;

	if (integer(in, line, "mpi_size", 1, CPL_SIGNATURE_MAX_RANKS, &ranks) ||
	    integer(in, line, "mpi_rank", 0, ranks - 1, &rank))
		return -1;
	if (out->ranks && out->ranks != ranks)
		return cpl_lines_fail(in, "mpi_size %lld: an earlier task has "
		                          "%d",
		                      (long long)ranks, out->ranks);
	out->ranks = (int)ranks;
	if (!ipm->seen)
		ipm->seen = calloc((size_t)ranks, sizeof(*ipm->seen));
	if (!ipm->seen)
		return cpl_fail_memory(in->err);
	if (ipm->seen[rank])
		return cpl_lines_fail(in, "rank %lld has a second task",
		                      (long long)rank);
	ipm->seen[rank] = true;
	ipm->rank = (int)rank;
	return 0;
}

static int take_collective(struct cpl_lines *in, const struct import_name *name,
                           int64_t peer, double bytes, double count,
                           struct ipm *ipm, const struct matrix *out)
{
	struct import_call c = {.operation = name->operation,
	                        .root = (int)peer,
	                        .rank = ipm->rank,
	                        .bytes = bytes * count,
	                        .calls = count};

	/* The bytes are the block that the rank gets. */
	if (name->operation == IMPORT_REDUCE_SCATTER)
		c.bytes *= out->ranks;
	return import_call_push(&ipm->calls, &c, in->err);
}

/* This reads a line of the table, which has calls of one size to one rank. */
static int take_calls(struct cpl_lines *in, const char *line, struct ipm *ipm,
                      struct matrix *out)
{
	const struct import_name *collective;
	int64_t bytes = 0, peer = 0, count = 0;
	struct cpl_comm_entry e;
	char call[64];

	if (ipm->rank < 0)
		return cpl_lines_fail(in, "<hent> outside of a <task>");
	if (!attribute(line, "call", call, sizeof(call)))
		return cpl_lines_fail(in, "the tag has no call=\"...\"");
	collective = import_collective(call);
	if (strncmp(call, "MPI_", 4) || (!collective && !import_sends(call)))
		return 0;
	if (integer(in, line, "bytes", 0, INT64_MAX, &bytes) ||
	    integer(in, line, "orank", 0, out->ranks - 1, &peer) ||
	    integer(in, line, "count", 1, INT64_MAX, &count))
		return -1;
	e = (struct cpl_comm_entry){ipm->rank, (int)peer,
	                            (double)bytes * (double)count,
	                            (double)count};
	if (e.bytes > SIGNATURE_MAX_AMOUNT || e.messages > SIGNATURE_MAX_AMOUNT)
		return cpl_lines_fail(in, "bytes times count is above 1e18");
	return collective ? take_collective(in, collective, peer, (double)bytes,
	                                    e.messages, ipm, out)
	                  : entry_push(&out->list, &e, in->err);
}

static bool begins(const char *line, const char *tag)
{
	return !strncmp(line + strspn(line, " \t"), tag, strlen(tag));
}

static int read_line(struct cpl_lines *in, const char *line, struct ipm *ipm,
                     struct matrix *out)
{
	if (begins(line, "<task "))
		return begin_task(in, line, ipm, out);
	if (begins(line, "<hent "))
		return take_calls(in, line, ipm, out);
	if (begins(line, "<taskcopy"))
		return cpl_lines_fail(in, "an IPM with clusters wrote this: "
		                          "ranks that are like others are "
		                          "left out");
	if (begins(line, "</task>"))
		ipm->rank = -1;
	if (begins(line, "</ipm_job_profile>"))
		ipm->complete = true;
	return 0;
}

static int check(struct cpl_lines *in, const struct ipm *ipm,
                 const struct matrix *out)
{
	if (!out->ranks)
		return cpl_lines_fail(in, "holds no <task> of IPM");
	if (!ipm->complete)
		return cpl_lines_fail(in, "is truncated: no "
		                          "</ipm_job_profile>");
	for (int r = 0; r < out->ranks; r++)
		if (!ipm->seen[r])
			return cpl_lines_fail(in, "rank %d of %d has no task",
			                      r, out->ranks);
	if (!out->list.n && !ipm->calls.n)
		return cpl_lines_fail(in, "holds no messages; IPM writes its "
		                          "table of calls with IPM_LOG=full");
	return 0;
}

static int read_ipm(struct cpl_lines *in, struct matrix *out)
{
	struct ipm ipm = {.rank = -1};
	struct import_group all = {0};
	int rc = 0;

	out->lost = "times, call sites and regions, the communicators of "
	            "collectives (all ranks are taken), persistent and "
	            "one-sided messages";
	while (!rc && cpl_lines_next(in)) {
		char *line = strndup(in->p, (size_t)(in->line_end - in->p));

		rc = line ? read_line(in, line, &ipm, out)
		          : cpl_fail_memory(in->err);
		free(line);
	}
	if (!rc)
		rc = check(in, &ipm, out);
	all.n = out->ranks;
	if (!rc && import_calls_expand(&ipm.calls, &all, &out->list, in->err))
		rc = cpl_fail_prefix(in->err, "%s: ", in->source);
	cpl_free_all(ipm.calls.call, ipm.seen);
	return rc;
}

const struct import_format import_ipm = {
        .name = "ipm",
        .summary = "IPM's XML",
        .read = read_ipm,
};
