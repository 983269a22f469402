/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a signature file row by row, in a file of its own beside the target
 * that is renamed at the end. Needs no JSON library and does not depend on the
 * locale, since it runs inside other people's programs.
 */
#ifndef CPL_RECORD_WRITER_H
#define CPL_RECORD_WRITER_H

#include <stdint.h>
#include <stdio.h>

struct rec_writer {
	FILE *file;
	char *path, *temporary;
	int error; /* first errno, 0: none */
	int rows;
};

/* Facts of a run, for the head and the "recorded" object. */
struct rec_facts {
	const char *name, *application;
	int ranks;
	double time, compute_time; /* seconds */
	const char *mpi;           /* first line of the library's version */
	const char *command;
	const char *date; /* ISO 8601 */
	int hosts;
	uint64_t outside_messages, outside_bytes; /* to other worlds */
	uint64_t lost_messages; /* not counted: memory was out */
};

/* Create PATH.PID.tmp. 0, or -1 with errno in w->error. */
int rec_writer_open(struct rec_writer *w, const char *path);

/* Head, then rows, then tail. Errors are kept for rec_writer_close. */
void rec_writer_head(struct rec_writer *w, const struct rec_facts *facts);
void rec_writer_row(struct rec_writer *w, int from, int to, uint64_t bytes,
                    uint64_t messages);
void rec_writer_tail(struct rec_writer *w, const struct rec_facts *facts);

/*
 * Flush and rename to the target; after an error, or when `keep` is 0, remove
 * the temporary file instead. 0, or -1 with errno in w->error. Frees all but
 * the error.
 */
int rec_writer_close(struct rec_writer *w, int keep);

/*
 * A profile name from a file name: its last part without ".json", foreign
 * characters replaced by '-' (the first one by '_'), cut to size - 1. Never
 * empty.
 */
void rec_profile_name(const char *path, char *out, size_t size);

#endif
