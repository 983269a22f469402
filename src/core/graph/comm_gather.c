/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/comm_gather.h"

#include <stdlib.h>
#include <string.h>

#include "graph/comm_rows.h"

int cpl_comm_gather_open(struct cpl_comm_gather *g, int ranks,
                         struct cpl_error *err)
{
	*g = (struct cpl_comm_gather){.ranks = ranks};
	g->next = calloc((size_t)ranks + 1, sizeof(*g->next));
	return g->next ? 0 : cpl_fail_memory(err);
}

int cpl_comm_gather_counted(struct cpl_comm_gather *g, struct cpl_error *err)
{
	int64_t n = 0;

	for (int r = 0; r < g->ranks; r++) {
		int64_t of_row = g->next[r];

		g->next[r] = n;
		n += of_row;
	}
	g->comm = comm_new(g->ranks, n, err);
	return g->comm ? 0 : -1;
}

static bool in_order(const int *to, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		if (to[i] <= to[i - 1])
			return false;
	return true;
}

/* A row that is in order already is moved as it is. */
static int64_t move_row(struct cpl_comm *comm, int row, int64_t begin,
                        int64_t n, int64_t used)
{
	size_t size = (size_t)n;

	if (used != begin) {
		memmove(comm->to + used, comm->to + begin,
		        size * sizeof(*comm->to));
		memmove(comm->bytes + used, comm->bytes + begin,
		        size * sizeof(*comm->bytes));
		memmove(comm->messages + used, comm->messages + begin,
		        size * sizeof(*comm->messages));
	}
	comm->row[row + 1] = used + n;
	return used + n;
}

static int64_t sort_row(struct cpl_comm *comm, int row, int64_t begin,
                        int64_t n, int64_t used, struct cpl_comm_entry *entry,
                        struct cpl_comm_entry *scratch)
{
	for (int64_t i = 0; i < n; i++)
		entry[i] = (struct cpl_comm_entry){
		        row, comm->to[begin + i], comm->bytes[begin + i],
		        comm->messages[begin + i]};
	comm_sort_row(entry, n, scratch);
	return comm_append_row(comm, row, used, entry, n);
}

struct cpl_comm *cpl_comm_gather_end(struct cpl_comm_gather *g,
                                     struct cpl_error *err)
{
	struct cpl_comm *comm = g->comm;
	int64_t longest = 0, begin = 0, used = 0;
	struct cpl_comm_entry *entry;

	for (int r = 0; r < g->ranks; r++) {
		int64_t n = g->next[r] - (r ? g->next[r - 1] : 0);

		longest = n > longest ? n : longest;
	}
	entry = malloc(((size_t)(longest + longest / 2) + 1) * sizeof(*entry));
	if (!entry)
		return cpl_fail_null_memory(err);
	for (int r = 0; r < g->ranks; r++) {
		int64_t n = g->next[r] - begin;

		used = in_order(comm->to + begin, n)
		               ? move_row(comm, r, begin, n, used)
		               : sort_row(comm, r, begin, n, used, entry,
		                          entry + longest);
		begin = g->next[r];
	}
	free(entry);
	comm_shrink(comm, used);
	g->comm = NULL;
	return comm;
}

void cpl_comm_gather_free(struct cpl_comm_gather *g)
{
	cpl_comm_free(g->comm);
	free(g->next);
	*g = (struct cpl_comm_gather){0};
}
