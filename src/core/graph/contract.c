/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/contract.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/sort.h"
#include "graph/arena.h"
#include "graph/comm_rows.h"
#include "graph/members.h"

/* Shorter lists are sorted by insertion. */
#define SHORT 24

/* Row g of the result, dense, and which of its entries are in use. */
struct contract_row {
	double *bytes, *messages; /* [groups] */
	unsigned char *seen;      /* [groups] */
	int *touched;             /* [groups] */
	int n;
};

static int grow(struct cpl_comm *comm, bool messages, int64_t *capacity,
                int64_t need)
{
	int64_t more = need > 2 * *capacity ? need : 2 * *capacity;

	if (need <= *capacity)
		return 0;
	*capacity = more;
	return comm_resize(comm, more, messages);
}

static void add_rank(const struct cpl_comm *comm, const int *group, int rank,
                     struct contract_row *row)
{
	for (int64_t e = comm->row[rank]; e < comm->row[rank + 1]; e++) {
		int to = group[comm->to[e]];

		row->bytes[to] += comm->bytes[e];
		if (row->messages)
			row->messages[to] += comm->messages[e];
		if (!row->seen[to]) {
			row->seen[to] = 1;
			row->touched[row->n++] = to;
		}
	}
}

static void sort_touched(struct contract_row *row, int n_groups)
{
	int *t = row->touched, n = row->n;

	if (n > n_groups / 16) {
		n = 0;
		for (int to = 0; to < n_groups; to++)
			if (row->seen[to])
				t[n++] = to;
	} else if (n > SHORT) {
		qsort(t, (size_t)n, sizeof(*t), cpl_by_int);
	} else {
		for (int i = 1; i < n; i++) {
			int x = t[i], j = i;

			for (; j > 0 && t[j - 1] > x; j--)
				t[j] = t[j - 1];
			t[j] = x;
		}
	}
}

/* Append to out, which has capacity, and clear the row. */
static void take_row(struct contract_row *row, int g, int how,
                     struct cpl_comm *out)
{
	int64_t at = out->n_entries;

	for (int i = 0; i < row->n; i++) {
		int to = row->touched[i];

		if ((to != g || how & CPL_CONTRACT_INSIDE) &&
		    (row->bytes[to] > 0 || !(how & CPL_CONTRACT_NO_EMPTY))) {
			out->to[at] = to;
			out->bytes[at] = row->bytes[to];
			if (row->messages)
				out->messages[at] = row->messages[to];
			at++;
		}
		row->bytes[to] = 0;
		if (row->messages)
			row->messages[to] = 0;
		row->seen[to] = 0;
	}
	row->n = 0;
	out->n_entries = out->row[g + 1] = at;
}

struct cpl_comm *cpl_comm_contract(const struct cpl_comm *comm,
                                   const int *group, int n_groups, int how,
                                   struct cpl_error *err)
{
	bool messages = comm->messages && !(how & CPL_CONTRACT_BYTES);
	struct cpl_comm *out = calloc(1, sizeof(*out));
	struct cpl_arena arena = {0};
	struct contract_row row = {
	        .bytes = cpl_arena_take(&arena, n_groups, sizeof(double)),
	        .messages = messages ? cpl_arena_take(&arena, n_groups,
	                                              sizeof(double))
	                             : NULL,
	        .seen = cpl_arena_take(&arena, n_groups, 1),
	        .touched = cpl_arena_take(&arena, n_groups, sizeof(int)),
	};
	int *start = cpl_arena_take(&arena, n_groups + 2, sizeof(*start));
	int *member = cpl_arena_take(&arena, comm->ranks, sizeof(*member));
	int64_t capacity = 0;
	int rc = -1;

	if (!out || arena.failed)
		goto done;
	out->ranks = n_groups;
	out->row = calloc((size_t)n_groups + 1, sizeof(*out->row));
	if (!out->row || grow(out, messages, &capacity, n_groups + 1))
		goto done;
	cpl_members_list(group, comm->ranks, n_groups, start, member);
	for (int g = 0; g < n_groups; g++) {
		for (int i = start[g]; i < start[g + 1]; i++)
			add_rank(comm, group, member[i], &row);
		sort_touched(&row, n_groups);
		if (grow(out, messages, &capacity, out->n_entries + row.n))
			goto done;
		take_row(&row, g, how, out);
	}
	comm_shrink(out, out->n_entries);
	rc = 0;
done:
	cpl_arena_free(&arena);
	if (!rc)
		return out;
	cpl_fail_memory(err);
	cpl_comm_free(out);
	return NULL;
}
