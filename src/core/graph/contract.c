/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/contract.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/sort.h"
#include "graph/comm_rows.h"

/* Shorter lists are sorted by insertion. */
#define SHORT 24

/* Row g of the result, dense, and which of its entries are in use. */
struct row {
	double *bytes, *messages; /* [groups] */
	unsigned char *seen;      /* [groups] */
	int *touched;             /* [groups] */
	int n;
};

static int grow(struct cpl_comm *comm, bool messages, int64_t *room,
                int64_t need)
{
	int64_t more = need > 2 * *room ? need : 2 * *room;
	void *p;

	if (need <= *room)
		return 0;
	p = realloc(comm->to, (size_t)more * sizeof(*comm->to));
	if (!p)
		return -1;
	comm->to = p;
	p = realloc(comm->bytes, (size_t)more * sizeof(*comm->bytes));
	if (!p)
		return -1;
	comm->bytes = p;
	if (messages) {
		p = realloc(comm->messages,
		            (size_t)more * sizeof(*comm->messages));
		if (!p)
			return -1;
		comm->messages = p;
	}
	*room = more;
	return 0;
}

static void add_rank(const struct cpl_comm *comm, const int *group, int rank,
                     struct row *row)
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

static void sort_touched(struct row *row, int n_groups)
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

/* Append to out, which has room, and clear the row. */
static void take_row(struct row *row, int g, int how, struct cpl_comm *out)
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

/* member[start[g] .. start[g + 1]) are the ranks of group g, ascending. */
static void list_members(const int *group, int ranks, int n_groups, int *start,
                         int *member)
{
	for (int r = 0; r < ranks; r++)
		start[group[r] + 2]++;
	for (int g = 0; g < n_groups; g++)
		start[g + 2] += start[g + 1];
	for (int r = 0; r < ranks; r++)
		member[start[group[r] + 1]++] = r;
}

struct cpl_comm *cpl_comm_contract(const struct cpl_comm *comm,
                                   const int *group, int n_groups, int how,
                                   struct cpl_error *err)
{
	bool messages = comm->messages && !(how & CPL_CONTRACT_BYTES);
	size_t n = (size_t)comm->ranks + 1, m = (size_t)n_groups + 2;
	struct cpl_comm *out = calloc(1, sizeof(*out));
	struct row row = {
	        .bytes = calloc(m, sizeof(*row.bytes)),
	        .messages = messages ? calloc(m, sizeof(double)) : NULL,
	        .seen = calloc(m, 1),
	        .touched = malloc(m * sizeof(*row.touched)),
	};
	int *start = calloc(m, sizeof(*start));
	int *member = malloc(n * sizeof(*member));
	int64_t room = 0;

	if (!out || !row.bytes || (messages && !row.messages) || !row.seen ||
	    !row.touched || !start || !member)
		goto memory;
	out->ranks = n_groups;
	out->row = calloc(m, sizeof(*out->row));
	if (!out->row || grow(out, messages, &room, n_groups + 1))
		goto memory;
	list_members(group, comm->ranks, n_groups, start, member);
	for (int g = 0; g < n_groups; g++) {
		for (int i = start[g]; i < start[g + 1]; i++)
			add_rank(comm, group, member[i], &row);
		sort_touched(&row, n_groups);
		if (grow(out, messages, &room, out->n_entries + row.n))
			goto memory;
		take_row(&row, g, how, out);
	}
	comm_shrink(out, out->n_entries);
	goto done;

memory:
	cpl_fail_memory(err);
	cpl_comm_free(out);
	out = NULL;
done:
	free(member);
	free(start);
	free(row.touched);
	free(row.seen);
	free(row.messages);
	free(row.bytes);
	return out;
}
