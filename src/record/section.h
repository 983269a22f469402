/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This writes what one rank recorded as bytes: a section of a file of events. The
 * format is commplace-events(5); the core's reader is signature/phases/events.h.
 * Nothing in here needs memory or MPI, so that a signal's handler may write a
 * section. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "table.h"

/* Bytes are gathered in `buffer`, and `flush` takes them when that is full. */
struct rec_sink {
	unsigned char *buffer;
	size_t used, size;
	/* This returns 0; after anything else no more is written. */
	int (*flush)(struct rec_sink *sink);
	int failed;
	void *arg;
};

/* These facts are the head of a file. */
struct rec_head {
	int ranks;
	uint32_t functions;
	const char *const *function; /* names, without MPI_ */
	const char *application, *mpi, *command, *date;
};

void rec_head_write(struct rec_sink *s, const struct rec_head *head);

struct rec_section {
	int rank;
	uint64_t time, mpi_time; /* ns */
	uint64_t lost; /* messages */
	/* This is 0 if MPI_Finalize was called, a signal's number, or -1 if it
	 * exited without it. */
	int ended;
	const struct rec_table *out, *in;
	const struct rec_events *events; /* NULL: only the tables */
};

/* This also flushes the rest. */
void rec_section_write(struct rec_sink *s, const struct rec_section *section);
