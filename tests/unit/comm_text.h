/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication matrices as text, for tests. Include it after cmocka.h. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "graph/comm.h"

/* "0>1:10/2 0>2:5/1 ", rows in order, for comparison as a whole. */
static inline char *comm_text(const struct cpl_comm *comm)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++)
			fprintf(f, "%d>%d:%g/%g ", r, comm->to[i],
			        comm->bytes[i], comm->messages[i]);
	fclose(f);
	return text;
}

static inline void assert_comm(const struct cpl_comm *comm, const char *want)
{
	char *text;

	assert_non_null(comm);
	text = comm_text(comm);
	assert_string_equal(text, want);
	assert_int_equal(comm->row[0], 0);
	assert_int_equal(comm->row[comm->ranks], comm->n_entries);
	free(text);
}
