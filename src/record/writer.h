/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This writes a signature file row by row to a temporary file beside the target,
 * which it renames at the end. It needs no JSON library and does not depend on the
 * locale, since it runs inside other people's programs. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define REC_DATE 32

struct rec_writer {
	FILE *file;
	char *path, *temporary;
	int error; /* first errno, 0: none */
	int rows;
};

/* These facts of a run are for the head and the "recorded" object. */
struct rec_facts {
	const char *name, *application;
	int ranks;
	const char *phase; /* the first; NULL: "run" */
	double time, compute_time; /* seconds; compute_time below 0: not known */
	/* This is the first line of the library's version; NULL: "nccl" has
	 * members of an object about NCCL instead, as text. */
	const char *mpi, *nccl;
	const char *command;
	const char *date; /* ISO 8601 */
	int hosts;
	uint64_t outside_messages, outside_bytes; /* to other worlds */
	uint64_t lost_messages; /* not counted: memory was out */
};

/* This creates PATH.PID.tmp. It returns 0, or -1 with errno in w->error. */
int rec_writer_open(struct rec_writer *w, const char *path);

/* The head is written first, then rows, then the tail. Errors are kept for
 * rec_writer_close. */
void rec_writer_head(struct rec_writer *w, const struct rec_facts *facts);
/* The rows that follow are of another phase, which is executed so often. */
void rec_writer_phase(struct rec_writer *w, const char *name, uint64_t weight,
                      double time);
void rec_writer_row(struct rec_writer *w, int from, int to, uint64_t bytes,
                    uint64_t messages);
void rec_writer_tail(struct rec_writer *w, const struct rec_facts *facts);

/* This flushes the file and renames it to the target. After an error, or when
 * `keep` is 0, it removes the temporary file instead. It returns 0, or -1 with
 * errno in w->error. It frees all but the error. */
int rec_writer_close(struct rec_writer *w, int keep);

/* This makes a profile name from a file name: its last part without ".json", with
 * '-' for foreign characters ('_' for the first one), cut to size - 1. It is never
 * empty. */
void rec_profile_name(const char *path, char *out, size_t size);

/* This writes the time of now by ISO 8601, to the second, or nothing if nobody
 * knows it. */
void rec_date_now(char out[REC_DATE]);
