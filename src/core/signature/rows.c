/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signature/pattern/pattern.h"
#include "signature/signature_internal.h"

/* Stored rows are handed out in pieces of so many entries. */
#define PIECE 1024
/* A matrix that could have more entries is refused: 20 bytes each. */
#define MAX_COMM INT64_C(200000000)

static const struct cpl_phase *find_phase(const struct cpl_signature *sig,
                                          const char *phase,
                                          struct cpl_error *err)
{
	char names[CPL_ERROR_MAX / 2] = "";
	size_t n = 0;

	for (int i = 0; i < sig->n_phases; i++) {
		if (!strcmp(sig->phase[i].name, phase))
			return &sig->phase[i];
		if (n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n,
			                      "%s%s", i ? ", " : "",
			                      sig->phase[i].name);
	}
	cpl_fail(err, "signature %.60s has no phase '%.60s'; it has %s",
	         sig->name, phase, names);
	return NULL;
}

/* matrices: patterns that have one are read from it. */
static struct cpl_rows *make(const struct cpl_signature *sig, const char *phase,
                             bool matrices, struct cpl_error *err)
{
	const struct cpl_phase *first = sig->phase;
	int n = phase ? 1 : sig->n_phases;
	struct cpl_rows *rows;

	if (phase && !(first = find_phase(sig, phase, err)))
		return NULL;
	rows = malloc(sizeof(*rows) + (size_t)n * sizeof(rows->part[0]));
	if (!rows) {
		cpl_fail_memory(err);
		return NULL;
	}
	rows->ranks = sig->ranks;
	rows->n_parts = n;
	rows->room = 1;
	for (int i = 0; i < n; i++) {
		const struct cpl_pattern *pattern =
		        matrices && first[i].comm ? NULL : first[i].pattern;
		int64_t room = pattern ? pattern->params.max_degree : PIECE;

		rows->part[i] = (struct cpl_rows_part){
		        .weight = phase ? 1 : first[i].weight,
		        .comm = pattern ? NULL : first[i].comm,
		        .pattern = pattern};
		rows->room = room > rows->room ? room : rows->room;
	}
	return rows;
}

struct cpl_rows *cpl_rows_new(const struct cpl_signature *sig,
                              const char *phase, struct cpl_error *err)
{
	return make(sig, phase, false, err);
}

void cpl_rows_free(struct cpl_rows *rows)
{
	free(rows);
}

static void next_part(struct cpl_rows_walk *walk)
{
	walk->part++;
	walk->at = walk->rank;
	walk->entry = 0;
}

static void from_comm(const struct cpl_comm *comm, struct cpl_rows_walk *walk,
                      struct cpl_rows_bunch *bunch, struct cpl_comm_entry *out)
{
	int rank = walk->at;
	int64_t first = comm->row[rank] + walk->entry;
	int64_t n = comm->row[rank + 1] - first;

	if (n > PIECE) {
		n = PIECE;
		walk->entry += n;
	} else {
		walk->at++;
		walk->entry = 0;
	}
	for (int64_t i = 0; i < n; i++)
		out[i] = (struct cpl_comm_entry){rank, comm->to[first + i],
		                                 comm->bytes[first + i],
		                                 comm->messages[first + i]};
	bunch->from = rank;
	bunch->count = 1;
	bunch->n = n;
}

static void from_pattern(const struct cpl_pattern *pattern,
                         struct cpl_rows_walk *walk,
                         struct cpl_rows_bunch *bunch,
                         struct cpl_comm_entry *out)
{
	const struct pattern_type *type = pattern->type;
	int rank = walk->at, alike = 1;

	if (type->alike)
		alike = type->alike(&pattern->params, rank);
	if (alike > walk->last - rank)
		alike = walk->last - rank;
	walk->at += alike;
	bunch->from = rank;
	bunch->count = alike;
	bunch->n = type->row(&pattern->params, rank, out);
}

bool cpl_rows_next(const struct cpl_rows *rows, struct cpl_rows_walk *walk,
                   struct cpl_rows_bunch *bunch, struct cpl_comm_entry *out)
{
	const struct cpl_rows_part *part;

	while (walk->part < rows->n_parts && walk->at == walk->last)
		next_part(walk);
	if (walk->part == rows->n_parts)
		return false;
	part = &rows->part[walk->part];
	bunch->weight = part->weight;
	if (part->comm)
		from_comm(part->comm, walk, bunch, out);
	else
		from_pattern(part->pattern, walk, bunch, out);
	return true;
}

/* Entries of one rank, weighted, into row[]. The count. */
static int64_t weighted_row(const struct cpl_rows *rows, int rank,
                            struct cpl_comm_entry *row)
{
	struct cpl_rows_walk walk = cpl_rows_walk(rank, rank + 1);
	struct cpl_rows_bunch bunch;
	int64_t n = 0;

	while (cpl_rows_next(rows, &walk, &bunch, row + n)) {
		for (int64_t i = 0; i < bunch.n; i++, n++) {
			row[n].bytes *= bunch.weight;
			row[n].messages *= bunch.weight;
		}
	}
	return n;
}

/* The longest row of those at the most; *most: all of them together. */
static int64_t longest_row(const struct cpl_rows *rows, int first, int last,
                           int64_t *most)
{
	int64_t longest = 0;

	*most = 0;
	for (int r = first; r < last; r++) {
		int64_t n = 0;

		for (int i = 0; i < rows->n_parts; i++) {
			const struct cpl_rows_part *part = &rows->part[i];

			n += part->comm ? part->comm->row[r + 1] -
			                          part->comm->row[r]
			                : part->pattern->params.max_degree;
		}
		*most += n;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* Sort by .to and add up equal pairs; how many are left. */
static int64_t merge(struct cpl_comm_entry *row, int64_t n,
                     struct cpl_comm_entry *scratch)
{
	int64_t used = 0;

	comm_sort_row(row, n, scratch);
	for (int64_t i = 0; i < n; i++) {
		if (used && row[used - 1].to == row[i].to) {
			row[used - 1].bytes += row[i].bytes;
			row[used - 1].messages += row[i].messages;
		} else {
			row[used++] = row[i];
		}
	}
	return used;
}

int cpl_rows_each(const struct cpl_rows *rows, int first, int last,
                  void (*fn)(void *arg, int from, int count,
                             const struct cpl_comm_entry *entry, int64_t n),
                  void *arg, struct cpl_error *err)
{
	bool alike = rows->n_parts == 1 && rows->part[0].pattern;
	int64_t most, longest = longest_row(rows, first, last, &most);
	struct cpl_comm_entry *row =
	        malloc((size_t)(longest + rows->room + longest / 2 + 1) *
	               sizeof(*row));
	struct cpl_rows_walk walk = cpl_rows_walk(first, last);
	struct cpl_rows_bunch bunch;

	if (!row)
		return cpl_fail_memory(err);
	while (alike && cpl_rows_next(rows, &walk, &bunch, row)) {
		for (int64_t i = 0; i < bunch.n; i++) {
			row[i].bytes *= bunch.weight;
			row[i].messages *= bunch.weight;
		}
		fn(arg, bunch.from, bunch.count, row,
		   merge(row, bunch.n, row + longest));
	}
	for (int r = first; r < last && !alike; r++) {
		int64_t n = weighted_row(rows, r, row);

		fn(arg, r, 1, row, merge(row, n, row + longest));
	}
	free(row);
	return 0;
}

bool cpl_rows_symmetric(const struct cpl_rows *rows)
{
	return rows->n_parts == 1 && rows->part[0].pattern &&
	       rows->part[0].pattern->type->symmetric;
}

struct cpl_comm *cpl_rows_comm(const struct cpl_rows *rows,
                               struct cpl_error *err)
{
	struct cpl_comm_entry *row = NULL;
	struct cpl_comm *out = NULL;
	int64_t most, longest = longest_row(rows, 0, rows->ranks, &most);
	int64_t used = 0;
	bool sorted = rows->n_parts == 1 && rows->part[0].comm;

	for (int i = 0; i < rows->n_parts; i++)
		if (!rows->part[i].comm && most > MAX_COMM) {
			cpl_fail(err,
			         "pattern of up to %" PRId64
			         " messages: at most %" PRId64 " are kept "
			         "in memory, which this needs; traffic, "
			         "compare and signature show do without",
			         most, MAX_COMM);
			return NULL;
		}
	/* A walk writes a whole piece at once; the last part is for the
	 * sort. */
	row = malloc((size_t)(longest + rows->room + longest / 2 + 1) *
	             sizeof(*row));
	if (!row) {
		cpl_fail_memory(err);
		return NULL;
	}
	out = comm_new(rows->ranks, most, err);
	for (int r = 0; out && r < rows->ranks; r++) {
		int64_t n = weighted_row(rows, r, row);

		if (!sorted)
			comm_sort_row(row, n, row + longest);
		used = comm_append_row(out, r, used, row, n);
	}
	if (out)
		comm_shrink(out, used);
	free(row);
	return out;
}

struct cpl_comm *cpl_signature_total(const struct cpl_signature *sig,
                                     struct cpl_error *err)
{
	struct cpl_rows *rows = make(sig, NULL, true, err);
	struct cpl_comm *comm = NULL;

	if (rows)
		comm = cpl_rows_comm(rows, err);
	cpl_rows_free(rows);
	return comm;
}

struct cpl_comm *cpl_signature_total_daemon(const struct cpl_signature *sig,
                                            struct cpl_error *err)
{
	struct cpl_rows *rows = make(sig, NULL, true, err);
	struct cpl_comm *comm = NULL;
	int64_t most;

	if (!rows)
		return NULL;
	longest_row(rows, 0, rows->ranks, &most);
	if (most > CPL_SIGNATURE_DAEMON_ENTRIES)
		cpl_fail(err,
		         "signature %.60s: up to %" PRId64
		         " pairs of ranks in all phases; the scheduler and "
		         "the nodes' daemons take at most %d",
		         sig->name ? sig->name : "", most,
		         CPL_SIGNATURE_DAEMON_ENTRIES);
	else
		comm = cpl_rows_comm(rows, err);
	cpl_rows_free(rows);
	return comm;
}
