/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/comm.h"

#include <stdbool.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"
#include "graph/comm_rows.h"

struct cpl_comm *comm_new(int ranks, int64_t n_entries, struct cpl_error *err)
{
	struct cpl_comm *comm = calloc(1, sizeof(*comm));
	size_t n = n_entries ? (size_t)n_entries : 1;

	if (!comm)
		goto fail;
	comm->ranks = ranks;
	comm->n_entries = n_entries;
	comm->row = calloc((size_t)ranks + 1, sizeof(*comm->row));
	comm->to = calloc(n, sizeof(*comm->to));
	comm->bytes = calloc(n, sizeof(*comm->bytes));
	comm->messages = calloc(n, sizeof(*comm->messages));
	if (!comm->row || !comm->to || !comm->bytes || !comm->messages)
		goto fail;
	return comm;
fail:
	cpl_comm_free(comm);
	cpl_fail_memory(err);
	return NULL;
}

void cpl_comm_free(struct cpl_comm *comm)
{
	if (!comm)
		return;
	cpl_free_all(comm->row, comm->to, comm->bytes, comm->messages, comm);
}

uint64_t cpl_comm_bytes(const struct cpl_comm *comm)
{
	return sizeof(*comm) +
	       ((uint64_t)comm->ranks + 1) * sizeof(*comm->row) +
	       (uint64_t)comm->n_entries *
	               (sizeof(*comm->to) + sizeof(*comm->bytes) +
	                sizeof(*comm->messages));
}

void comm_sort_row(struct cpl_comm_entry *e, int64_t n,
                   struct cpl_comm_entry *scratch)
{
	int64_t half = n / 2, i = 0, j = half, k = 0;

	if (n <= 24) {
		for (i = 1; i < n; i++) {
			struct cpl_comm_entry x = e[i];

			for (j = i; j > 0 && e[j - 1].to > x.to; j--)
				e[j] = e[j - 1];
			e[j] = x;
		}
		return;
	}
	comm_sort_row(e, half, scratch);
	comm_sort_row(e + half, n - half, scratch);
	if (e[half - 1].to <= e[half].to)
		return;
	memcpy(scratch, e, (size_t)half * sizeof(*e));
	while (i < half && j < n)
		e[k++] = e[j].to < scratch[i].to ? e[j++] : scratch[i++];
	while (i < half)
		e[k++] = scratch[i++];
}

static bool rows_in_order(const struct cpl_comm_entry *entry, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		if (entry[i].from < entry[i - 1].from)
			return false;
	return true;
}

/* row[r + 1] = entries of rows 0 .. r; returns the longest row. */
static int64_t count_rows(int ranks, const struct cpl_comm_entry *entry,
                          int64_t n, int64_t *row)
{
	int64_t longest = 0;

	for (int64_t i = 0; i < n; i++)
		row[entry[i].from + 1]++;
	for (int r = 0; r < ranks; r++) {
		if (row[r + 1] > longest)
			longest = row[r + 1];
		row[r + 1] += row[r];
	}
	return longest;
}

struct cpl_comm *cpl_comm_build(int ranks, struct cpl_comm_entry *entry,
                                int64_t n, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int64_t *row = cpl_arena_take(&arena, ranks + 1, sizeof(*row));
	struct cpl_comm_entry *sorted = entry, *scratch;
	struct cpl_comm *comm = NULL;
	int64_t longest, used = 0, begin = 0;

	if (arena.failed)
		goto out;
	longest = count_rows(ranks, entry, n, row);
	scratch = cpl_arena_take_raw(&arena, longest / 2, sizeof(*scratch));
	if (!rows_in_order(entry, n)) {
		sorted = cpl_arena_take_raw(&arena, n, sizeof(*sorted));
		for (int64_t i = 0; i < n && sorted; i++)
			sorted[row[entry[i].from]++] = entry[i];
		memmove(row + 1, row, (size_t)ranks * sizeof(*row));
		row[0] = 0;
	}
	if (!arena.failed)
		comm = comm_new(ranks, n, err);
	for (int r = 0; r < ranks && comm; r++) {
		int64_t end = row[r + 1];

		comm->row[r + 1] = used;
		/* Without entries at all, there may be no array. */
		if (begin == end)
			continue;
		comm_sort_row(sorted + begin, end - begin, scratch);
		used = comm_append_row(comm, r, used, sorted + begin,
		                       end - begin);
		begin = end;
	}
	if (comm)
		comm_shrink(comm, used);
out:
	cpl_arena_end(&arena, 0, err);
	return comm;
}

static struct cpl_comm *transpose(const struct cpl_comm *comm,
                                  struct cpl_error *err)
{
	struct cpl_comm *t = comm_new(comm->ranks, comm->n_entries, err);

	if (!t)
		return NULL;
	for (int64_t i = 0; i < comm->n_entries; i++)
		t->row[comm->to[i] + 1]++;
	for (int r = 0; r < comm->ranks; r++)
		t->row[r + 1] += t->row[r];
	for (int r = 0; r < comm->ranks; r++) {
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			int64_t at = t->row[comm->to[i]]++;

			t->to[at] = r;
			t->bytes[at] = comm->bytes[i];
			t->messages[at] = comm->messages[i];
		}
	}
	for (int r = comm->ranks; r > 0; r--)
		t->row[r] = t->row[r - 1];
	t->row[0] = 0;
	return t;
}

/* Row r of a + b without the diagonal, appended to out at *used. */
static void add_rows(const struct cpl_comm *a, const struct cpl_comm *b, int r,
                     struct cpl_comm *out, int64_t *used)
{
	int64_t i = a->row[r], j = b->row[r];

	while (i < a->row[r + 1] || j < b->row[r + 1]) {
		int ta = i < a->row[r + 1] ? a->to[i] : out->ranks;
		int tb = j < b->row[r + 1] ? b->to[j] : out->ranks;
		int to = ta < tb ? ta : tb;
		double bytes = 0.0, messages = 0.0;

		if (ta == to) {
			bytes = a->bytes[i];
			messages = a->messages[i++];
		}
		if (tb == to) {
			bytes += b->bytes[j];
			messages += b->messages[j++];
		}
		if (to == r)
			continue;
		out->to[*used] = to;
		out->bytes[*used] = bytes;
		out->messages[(*used)++] = messages;
	}
	out->row[r + 1] = *used;
}

static bool resize(void *array, size_t bytes)
{
	void **at = array, *resized = realloc(*at, bytes);

	if (resized)
		*at = resized;
	return resized;
}

int comm_resize(struct cpl_comm *comm, int64_t n_entries, bool messages)
{
	size_t n = n_entries ? (size_t)n_entries : 1;

	return resize(&comm->to, n * sizeof(*comm->to)) &&
	                       resize(&comm->bytes, n * sizeof(*comm->bytes)) &&
	                       (!messages ||
	                        resize(&comm->messages,
	                               n * sizeof(*comm->messages)))
	               ? 0
	               : -1;
}

void comm_shrink(struct cpl_comm *comm, int64_t n)
{
	comm->n_entries = n;
	/* A failed shrink leaves the larger array in place: no harm. */
	comm_resize(comm, n, comm->messages);
}

int64_t comm_append_row(struct cpl_comm *out, int row, int64_t used,
                        const struct cpl_comm_entry *entry, int64_t n)
{
	int64_t first = used;

	for (int64_t i = 0; i < n; i++) {
		if (used > first && out->to[used - 1] == entry[i].to) {
			out->bytes[used - 1] += entry[i].bytes;
			out->messages[used - 1] += entry[i].messages;
			continue;
		}
		out->to[used] = entry[i].to;
		out->bytes[used] = entry[i].bytes;
		out->messages[used++] = entry[i].messages;
	}
	out->row[row + 1] = used;
	return used;
}

struct cpl_comm *cpl_comm_symmetric(const struct cpl_comm *comm,
                                    struct cpl_error *err)
{
	struct cpl_comm *t = transpose(comm, err);
	struct cpl_comm *out = NULL;
	int64_t used = 0;

	if (!t)
		return NULL;
	out = comm_new(comm->ranks, 2 * comm->n_entries, err);
	if (out) {
		for (int r = 0; r < comm->ranks; r++)
			add_rows(comm, t, r, out, &used);
		comm_shrink(out, used);
	}
	cpl_comm_free(t);
	return out;
}

struct cpl_comm *cpl_comm_subset(const struct cpl_comm *comm, const int *rank,
                                 int n, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int *index = cpl_arena_take(&arena, comm->ranks, sizeof(*index));
	struct cpl_comm_entry *entry;
	struct cpl_comm *out = NULL;
	int64_t most = 0, used = 0;

	for (int i = 0; i < n; i++)
		most += comm->row[rank[i] + 1] - comm->row[rank[i]];
	entry = cpl_arena_take_raw(&arena, most, sizeof(*entry));
	if (arena.failed)
		goto out;
	for (int i = 0; i < n; i++)
		index[rank[i]] = i + 1;
	for (int i = 0; i < n; i++) {
		int r = rank[i];

		for (int64_t k = comm->row[r]; k < comm->row[r + 1]; k++) {
			if (!index[comm->to[k]])
				continue;
			entry[used++] = (struct cpl_comm_entry){
			        .from = i,
			        .to = index[comm->to[k]] - 1,
			        .bytes = comm->bytes[k],
			        .messages = comm->messages[k],
			};
		}
	}
	out = cpl_comm_build(n, entry, used, err);
out:
	cpl_arena_end(&arena, 0, err);
	return out;
}

struct cpl_comm *cpl_comm_build_symmetric(int ranks,
                                          struct cpl_comm_entry *entry,
                                          int64_t n, struct cpl_error *err)
{
	struct cpl_comm *comm = cpl_comm_build(ranks, entry, n, err);
	struct cpl_comm *graph = comm ? cpl_comm_symmetric(comm, err) : NULL;

	cpl_comm_free(comm);
	return graph;
}

int cpl_comm_heaviest(const struct cpl_comm *comm)
{
	double most = -1;
	int best = 0;

	for (int r = 0; r < comm->ranks; r++) {
		double sum = 0;

		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			sum += comm->bytes[e];
		if (sum > most) {
			most = sum;
			best = r;
		}
	}
	return best;
}

bool cpl_comm_crosses(const struct cpl_comm *comm, int block)
{
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			if (comm->bytes[e] > 0 && r / block != comm->to[e] / block)
				return true;
	return false;
}

static double total_bytes(const struct cpl_comm *comm)
{
	double sum = 0;

	for (int64_t e = 0; e < comm->n_entries; e++)
		sum += comm->bytes[e];
	return sum;
}

double cpl_comm_distance(const struct cpl_comm *a, const struct cpl_comm *b)
{
	double sum_a = total_bytes(a), sum_b = total_bytes(b), apart = 0;

	if (!(sum_a > 0) || !(sum_b > 0))
		return sum_a > 0 || sum_b > 0;
	for (int r = 0; r < a->ranks; r++) {
		int64_t i = a->row[r], j = b->row[r];

		while (i < a->row[r + 1] || j < b->row[r + 1]) {
			int to_a = i < a->row[r + 1] ? a->to[i] : a->ranks;
			int to_b = j < b->row[r + 1] ? b->to[j] : a->ranks;
			double x = to_a <= to_b ? a->bytes[i++] / sum_a : 0;
			double y = to_b <= to_a ? b->bytes[j++] / sum_b : 0;

			apart += fabs(x - y);
		}
	}
	return fmin(apart / 2, 1);
}
