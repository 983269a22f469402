/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/comm_rows.h"
#include "signature/pattern/pattern.h"

/* Stored rows are handed out in pieces of so many entries. */
#define PIECE 1024
/* A matrix that could have more entries, of 20 bytes each, is refused. */
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

/* If matrices is set, patterns that have a matrix are read from it. */
static struct cpl_rows *make(const struct cpl_signature *sig, const char *phase,
                             bool matrices, struct cpl_error *err)
{
	const struct cpl_phase *first = sig->phase;
	int n = phase ? 1 : sig->n_phases;
	struct cpl_rows *rows;

	if (phase && !(first = find_phase(sig, phase, err)))
		return NULL;
	rows = malloc(sizeof(*rows) + (size_t)n * sizeof(rows->term[0]));
	if (!rows)
		return cpl_fail_null_memory(err);
	rows->ranks = sig->ranks;
	rows->n_terms = n;
	rows->max_entries = 1;
	for (int i = 0; i < n; i++) {
		const struct cpl_pattern *pattern =
		        matrices && first[i].comm ? NULL : first[i].pattern;
		int64_t most = pattern ? pattern->params.max_degree : PIECE;

		rows->term[i] = (struct cpl_rows_term){
		        .weight = phase ? 1 : first[i].weight,
		        .comm = pattern ? NULL : first[i].comm,
		        .pattern = pattern};
		rows->max_entries =
		        most > rows->max_entries ? most : rows->max_entries;
	}
	return rows;
}

struct cpl_rows *cpl_rows_new(const struct cpl_signature *sig,
                              const char *phase, struct cpl_error *err)
{
	return make(sig, phase, false, err);
}

struct cpl_rows *cpl_rows_of_phase(const struct cpl_phase *phase, int ranks,
                                   struct cpl_error *err)
{
	struct cpl_phase named = *phase;
	struct cpl_signature one = {
	        .ranks = ranks, .n_phases = 1, .phase = &named};

	named.weight = 1;
	return make(&one, NULL, true, err);
}

void cpl_rows_free(struct cpl_rows *rows)
{
	free(rows);
}

static void from_comm(const struct cpl_comm *comm, struct cpl_rows_iter *iter,
                      struct cpl_rows_batch *batch, struct cpl_comm_entry *out)
{
	int rank = iter->at;
	int64_t first = comm->row[rank] + iter->entry;
	int64_t n = comm->row[rank + 1] - first;

	if (n > PIECE) {
		n = PIECE;
		iter->entry += n;
	} else {
		iter->at++;
		iter->entry = 0;
	}
	for (int64_t i = 0; i < n; i++)
		out[i] = (struct cpl_comm_entry){rank, comm->to[first + i],
		                                 comm->bytes[first + i],
		                                 comm->messages[first + i]};
	batch->from = rank;
	batch->count = 1;
	batch->n = n;
}

static void from_pattern(const struct cpl_pattern *pattern,
                         struct cpl_rows_iter *iter,
                         struct cpl_rows_batch *batch,
                         struct cpl_comm_entry *out)
{
	const struct pattern_type *type = pattern->type;
	int rank = iter->at, alike = 1;

	if (type->alike)
		alike = type->alike(&pattern->params, rank);
	if (alike > iter->last - rank)
		alike = iter->last - rank;
	iter->at += alike;
	batch->from = rank;
	batch->count = alike;
	batch->n = type->row(&pattern->params, rank, out);
}

bool cpl_rows_next(const struct cpl_rows *rows, struct cpl_rows_iter *iter,
                   struct cpl_rows_batch *batch, struct cpl_comm_entry *out)
{
	const struct cpl_rows_term *term;

	while (iter->term < rows->n_terms && iter->at == iter->last) {
		iter->term++;
		iter->at = iter->rank;
		iter->entry = 0;
	}
	if (iter->term == rows->n_terms)
		return false;
	term = &rows->term[iter->term];
	batch->weight = term->weight;
	if (term->comm)
		from_comm(term->comm, iter, batch, out);
	else
		from_pattern(term->pattern, iter, batch, out);
	return true;
}

/* This applies the weight to a batch. */
static void weigh(const struct cpl_rows_batch *batch,
                  struct cpl_comm_entry *row)
{
	for (int64_t i = 0; i < batch->n; i++) {
		row[i].bytes *= batch->weight;
		row[i].messages *= batch->weight;
	}
}

/* This puts the weighted entries of one rank into row[], and returns how many. */
static int64_t weighted_row(const struct cpl_rows *rows, int rank,
                            struct cpl_comm_entry *row)
{
	struct cpl_rows_iter iter = cpl_rows_iter(rank, rank + 1);
	struct cpl_rows_batch batch;
	int64_t n = 0;

	for (; cpl_rows_next(rows, &iter, &batch, row + n); n += batch.n)
		weigh(&batch, row + n);
	return n;
}

/* This returns the most entries that any of these rows can have; *most becomes that
 * of all together. */
static int64_t longest_row(const struct cpl_rows *rows, int first, int last,
                           int64_t *most)
{
	int64_t longest = 0;

	*most = 0;
	for (int r = first; r < last; r++) {
		int64_t n = 0;

		for (int i = 0; i < rows->n_terms; i++) {
			const struct cpl_rows_term *term = &rows->term[i];

			n += term->comm ? term->comm->row[r + 1] -
			                          term->comm->row[r]
			                : term->pattern->params.max_degree;
		}
		*most += n;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* This sorts by .to and adds up equal pairs. It returns how many are left. */
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

/* This returns the pattern if there is nothing else, or NULL. */
static const struct cpl_pattern *only_pattern(const struct cpl_rows *rows)
{
	return rows->n_terms == 1 ? rows->term[0].pattern : NULL;
}

/* The memory holds a row, or a whole piece behind it, and is enough for the sort. */
static struct cpl_comm_entry *new_row(const struct cpl_rows *rows,
                                      int64_t longest, struct cpl_error *err)
{
	struct cpl_comm_entry *row =
	        malloc((size_t)(longest + rows->max_entries + longest / 2 + 1) *
	               sizeof(*row));

	if (!row)
		cpl_fail_memory(err);
	return row;
}

int cpl_rows_each(const struct cpl_rows *rows, int first, int last,
                  void (*fn)(void *arg, int from, int count,
                             const struct cpl_comm_entry *entry, int64_t n),
                  void *arg, struct cpl_error *err)
{
	bool alike = only_pattern(rows);
	int64_t most, longest = longest_row(rows, first, last, &most);
	struct cpl_comm_entry *row = new_row(rows, longest, err);
	struct cpl_rows_iter iter = cpl_rows_iter(first, last);
	struct cpl_rows_batch batch;

	if (!row)
		return -1;
	while (alike && cpl_rows_next(rows, &iter, &batch, row)) {
		weigh(&batch, row);
		fn(arg, batch.from, batch.count, row,
		   merge(row, batch.n, row + longest));
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
	return only_pattern(rows) && only_pattern(rows)->type->symmetric;
}

struct cpl_comm *cpl_rows_comm(const struct cpl_rows *rows,
                               struct cpl_error *err)
{
	struct cpl_comm_entry *row = NULL;
	struct cpl_comm *out = NULL;
	int64_t most, longest = longest_row(rows, 0, rows->ranks, &most);
	int64_t used = 0;
	bool sorted = rows->n_terms == 1 && rows->term[0].comm;

	for (int i = 0; i < rows->n_terms; i++)
		if (!rows->term[i].comm && most > MAX_COMM)
			return cpl_fail_null(
			        err,
			        "pattern of up to %" PRId64
			        " messages: at most %" PRId64 " are kept "
			        "in memory, which this needs; traffic, "
			        "compare and signature show do without",
			        most, MAX_COMM);
	row = new_row(rows, longest, err);
	if (!row)
		return NULL;
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
