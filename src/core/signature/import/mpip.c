/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This reads mpiP's report with the lines of all ranks (its user's guide, "mpiP
 * output"):
 *
 *	@ MPI Task Assignment      : 0 host
 *	@--- Callsite Time statistics (all, milliseconds): 4 ---
 *	Name              Site Rank  Count      Max     Mean  ...
 *	Allreduce            1    0      3   0.0138   0.0138  ...
 *	@--- Callsite Message Sent statistics (all, sent bytes) ---
 *	Name              Site Rank   Count       Max      Mean       Min       Sum
 *	Allreduce            1    0       3        80        80        80      240
 *
 * It tells no partners, so messages to one rank cannot be assigned. A collective
 * operation of a call site is taken as one of all ranks that call there, and the
 * lowest of them is the root if it has one.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "signature/import/calls.h"

#define MAX_SITE 16777215

enum section { OTHER, TIMES, SENT, CONCISE };

/* The rank `rank` calls at `site`. */
struct caller {
	int site, rank;
};

/* This is a line of the sent sizes. */
struct mpip_sent {
	const struct import_name *name;
	struct caller at;
	double calls, bytes;
};

struct report {
	enum section section;
	bool complete, concise;
	double unplaced; /* bytes of messages to one rank */
	struct caller *caller;
	int64_t n_callers;
	struct mpip_sent *sent;
	int64_t n_sent;
};

static enum section section_of(struct cpl_lines *in)
{
	if (cpl_lines_take(in, "Callsite Time statistics (all,"))
		return TIMES;
	if (cpl_lines_take(in, "Callsite Message Sent statistics (all,"))
		return SENT;
	if (cpl_lines_take(in, "Callsite Message Sent statistics (all "))
		return CONCISE;
	return OTHER;
}

/* "@ MPI Task Assignment : 3 host" tells how many ranks there are. */
static int take_header(struct cpl_lines *in, struct report *r,
                       struct matrix *out)
{
	int64_t rank = 0;

	if (cpl_lines_take(in, "@--- ")) {
		r->section = section_of(in);
		r->concise |= r->section == CONCISE;
		r->complete |= cpl_lines_take(in, "End of Report");
		return 0;
	}
	if (!cpl_lines_take(in, "@ MPI Task Assignment"))
		return 0;
	cpl_lines_end(in);
	if (!cpl_lines_take(in, ":"))
		return 0;
	if (import_integer(in, "task", 0, CPL_SIGNATURE_MAX_RANKS - 1, &rank) <
	    0)
		return -1;
	if (rank >= out->ranks)
		out->ranks = (int)rank + 1;
	return 0;
}

static int too_short(struct cpl_lines *in)
{
	return cpl_lines_fail(in, "is too short; name, site, rank, count, max, "
	                          "mean, min and sum are needed");
}

static int take_sent(struct cpl_lines *in, struct report *r,
                     const struct import_name *name,
                     const struct caller *at, double calls)
{
	struct mpip_sent s = {name, *at, calls, 0};
	double skip;
	int rc = 1;

	for (int i = 0; i < 3 && rc == 1; i++)
		rc = import_amount(in, "size", &skip);
	if (rc == 1)
		rc = import_amount(in, "sum", &s.bytes);
	if (rc <= 0)
		return rc ? rc : too_short(in);
	if (!name) {
		r->unplaced += s.bytes;
		return 0;
	}
	if (cpl_array_grow(&r->sent, r->n_sent, sizeof(s), in->err))
		return -1;
	r->sent[r->n_sent++] = s;
	return 0;
}

/* This reads "Allreduce 1 0 3 ...", a row of times or sizes. */
static int take_row(struct cpl_lines *in, struct report *r)
{
	const struct import_name *name;
	int64_t site = 0, rank = 0;
	struct caller at;
	char word[48] = "";
	double calls = 0;
	int rc;

	for (size_t n = 0; in->p < in->line_end &&
	                   !isblank((unsigned char)*in->p);
	     in->p++)
		if (n + 1 < sizeof(word))
			word[n++] = *in->p;
	if (!strcmp(word, "Name") || word[0] == '-')
		return 0;
	name = import_collective(word);
	if (!name && !import_sends(word))
		return 0;
	rc = import_integer(in, "site", 1, MAX_SITE, &site);
	if (rc == 1 && !cpl_lines_end(in) && *in->p == '*')
		return 0; /* the sum of all ranks */
	if (rc == 1)
		rc = import_integer(in, "rank", 0, CPL_SIGNATURE_MAX_RANKS - 1,
		                    &rank);
	if (rc == 1)
		rc = import_amount(in, "count", &calls);
	if (rc <= 0)
		return rc ? rc : too_short(in);
	at = (struct caller){(int)site, (int)rank};
	if (name) {
		if (cpl_array_grow(&r->caller, r->n_callers, sizeof(at),
		                   in->err))
			return -1;
		r->caller[r->n_callers++] = at;
	}
	return r->section == SENT ? take_sent(in, r, name, &at, calls) : 0;
}

static CPL_SORT_BY(compare, struct caller, CPL_UP(site), CPL_UP(rank))

/* This sorts the callers and keeps each once. The ranks of a site become its group,
 * group[site]. */
static void make_groups(struct report *r, int *rank, struct import_group *group)
{
	int64_t n = 0;

	if (r->n_callers)
		qsort(r->caller, (size_t)r->n_callers, sizeof(*r->caller),
		      compare);
	for (int64_t i = 0; i < r->n_callers; i++)
		if (!n || compare(&r->caller[n - 1], &r->caller[i]))
			r->caller[n++] = r->caller[i];
	r->n_callers = n;
	for (int64_t i = 0; i < n; i++) {
		struct import_group *g = &group[r->caller[i].site];

		rank[i] = r->caller[i].rank;
		if (!g->n++)
			g->rank = &rank[i];
	}
}

/* This gives the bytes of a call as struct import_call has them. */
static double bytes_of(const struct mpip_sent *s, int n)
{
	enum import_operation operation = s->name->operation;

	/* For these, mpiP adds up what is sent to each rank. */
	if (s->name->vector && (operation == IMPORT_ALLTOALL ||
	                        operation == IMPORT_SCATTER))
		return s->bytes / n;
	if (!s->name->vector && operation == IMPORT_REDUCE_SCATTER)
		return s->bytes * n;
	return s->bytes;
}

static int expand(struct report *r, struct matrix *out, struct cpl_error *err)
{
	struct import_group *group = NULL;
	struct import_calls calls = {0};
	int *rank = malloc(((size_t)r->n_callers + 1) * sizeof(*rank));
	int most = 0, rc = -1;

	for (int64_t i = 0; i < r->n_callers; i++)
		if (r->caller[i].site > most)
			most = r->caller[i].site;
	group = calloc((size_t)most + 1, sizeof(*group));
	if (cpl_out_of_memory(!rank || !group, err))
		goto out;
	make_groups(r, rank, group);
	for (int64_t i = 0; i < r->n_sent; i++) {
		const struct mpip_sent *s = &r->sent[i];
		const struct import_group *g = &group[s->at.site];
		struct import_call c = {
		        .group = s->at.site,
		        .operation = s->name->operation,
		        .rank = import_group_rank(g, s->at.rank),
		        .bytes = bytes_of(s, g->n),
		        .calls = s->calls};

		if (import_call_push(&calls, &c, err))
			goto out;
	}
	rc = import_calls_expand(&calls, group, &out->list, err);
out:
	cpl_free_all(calls.call, group, rank);
	return rc;
}

static int finish_report(struct cpl_lines *in, struct report *r,
                         struct matrix *out)
{
	if (!r->complete)
		return cpl_lines_fail(in, "is truncated, or no report of mpiP: "
		                          "no \"End of Report\"");
	if (!r->n_sent)
		return cpl_lines_fail(in, "%s",
		                      r->concise
		                              ? "is a concise report; lines of "
		                                "each rank are needed"
		                              : "holds no collective "
		                                "operations; of other "
		                                "messages mpiP does not tell "
		                                "the receiver");
	if (expand(r, out, in->err))
		return cpl_fail_prefix(in->err, "%s: ", in->source);
	import_lost(out,
	            "%.6g bytes of messages to one rank, whose receivers mpiP "
	            "does not tell, times, communicators and roots of "
	            "collectives (the ranks and the lowest rank of a call site "
	            "are taken)",
	            r->unplaced);
	return 0;
}

static int read_mpip(struct cpl_lines *in, struct matrix *out)
{
	struct report r = {0};
	int rc = 0;

	while (!rc && cpl_lines_next(in)) {
		if (cpl_lines_end(in))
			continue;
		if (*in->p == '@')
			rc = take_header(in, &r, out);
		else if (r.section == TIMES || r.section == SENT)
			rc = take_row(in, &r);
	}
	if (!rc)
		rc = finish_report(in, &r, out);
	cpl_free_all(r.caller, r.sent);
	return rc;
}

const struct import_format import_mpip = {
        .name = "mpip",
        .summary = "a report of mpiP",
        .read = read_mpip,
};
