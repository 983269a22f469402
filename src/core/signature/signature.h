/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Communication signatures: who sends how much to whom, per phase.
 */
#ifndef CPL_SIGNATURE_SIGNATURE_H
#define CPL_SIGNATURE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "graph/comm.h"

#define CPL_SIGNATURE_MAX_RANKS 16777216
#define CPL_PROFILE_NAME_MAX 128

struct cpl_pattern;

struct cpl_phase {
	char *name;
	double weight;       /* how often the phase runs, > 0 */
	double time;         /* seconds of one execution, 0: not stated */
	double compute_time; /* seconds of it without communication */
	/*
	 * One execution: a matrix, or where "pattern" could make more entries
	 * than are stored at once, its generator and no matrix; rows.h reads
	 * both. A small pattern has both.
	 */
	struct cpl_comm *comm;
	struct cpl_pattern *pattern;
};

struct cpl_signature {
	char *name;
	char *application; /* may be NULL */
	int ranks;
	int n_phases;
	struct cpl_phase *phase;
	char *recorded; /* the "recorded" object as JSON text, or NULL */
	/* What it was read from: NAME.json, then its side files. */
	int n_files;
	struct cpl_signature_file {
		char *path;
		struct cpl_file_stamp stamp;
	} * file;
};

/*
 * Load NAME.json, or parse the same from memory. Refused, with file, phase and
 * row in err: ranks outside 1..CPL_SIGNATURE_MAX_RANKS, a rank beyond `ranks`,
 * negative, fractional-rank or non-finite numbers, rows that are not four
 * numbers, no phases, unknown keys. Rows of the same pair are added up; a row
 * whose source is its destination is kept (it never leaves the node). Phases
 * with "pattern" or "file" are supported as signature(5) says; a side file is
 * looked for beside the signature only (no "/" in its name). O(rows log rows).
 */
struct cpl_signature *cpl_signature_load(const char *path,
                                         struct cpl_error *err);
struct cpl_signature *cpl_signature_parse(const char *text, size_t length,
                                          const char *name,
                                          struct cpl_error *err);
void cpl_signature_free(struct cpl_signature *sig);

/* What a process that must not grow or wait asks of a load. */
struct cpl_signature_limits {
	/* Of each file, and of the matrix of the whole run and its graph in
	 * memory: refused before either is made or read. 0: those of
	 * cpl_signature_load. */
	uint64_t max_bytes;
	/* Called before files are read and after, on the same thread; may be
	 * NULL. */
	void (*reads)(void *arg, bool reads);
	void *arg;
};

/*
 * cpl_signature_load within limits; symbolic links are refused (the files are
 * those of a site). NULL with err, and errno where the file could not be
 * opened, as cpl_file_open leaves it, else 0.
 */
struct cpl_signature *
cpl_signature_load_within(const char *path,
                          const struct cpl_signature_limits *limits,
                          struct cpl_error *err);

/* A site's profile for a command: of any size, but symbolic links are refused as
 * the daemons do. NULL with err. */
struct cpl_signature *cpl_profile_load(const char *dir, const char *name,
                                       struct cpl_error *err);

/*
 * "ranks" of the signature that begins with this text, without looking at what
 * comes after it; 0: not found, or not in this text. O(bytes before it).
 */
int cpl_signature_peek(const char *text, size_t length);

/* Has every phase its matrix? */
bool cpl_signature_stored(const struct cpl_signature *sig);

/*
 * The whole run: sum over phases of weight * traffic, patterns that are not
 * stored included up to 200 million entries; larger ones are refused: what
 * evaluates link traffic reads them by rows.h. The caller frees it with
 * cpl_comm_free. NULL with err.
 */
struct cpl_comm *cpl_signature_total(const struct cpl_signature *sig,
                                     struct cpl_error *err);

/*
 * Names of signatures, phases and applications end up in tables and logs: one
 * or more printable characters, UTF-8. 0, or -1 with err naming `what`.
 */
int cpl_signature_text_check(const char *what, const char *text,
                             struct cpl_error *err);

/* Write as signature JSON (atomic, mode 0644). 0, or -1 with err. */
int cpl_signature_write(const struct cpl_signature *sig, const char *path,
                        struct cpl_error *err);

/*
 * The same with each phase's traffic in a binary side file "NAME.phaseK.comm"
 * beside "NAME.json"; refused when one exists already. 0, or -1 with err and
 * nothing written.
 */
int cpl_signature_write_binary(const struct cpl_signature *sig,
                               const char *path, struct cpl_error *err);

/*
 * A profile name is untrusted text: 1 to CPL_PROFILE_NAME_MAX characters of
 * [A-Za-z0-9_.-], not starting with a dot. 0, or -1 with err.
 */
int cpl_profile_name_check(const char *name, struct cpl_error *err);

/* "DIR/NAME.json" after cpl_profile_name_check. The caller frees it. */
char *cpl_profile_path(const char *dir, const char *name,
                       struct cpl_error *err);

/*
 * Names of the profiles in dir (files NAME.json with a valid name), sorted.
 * The caller frees each and the array. Returns the count, or -1 with err.
 */
int cpl_profile_list(const char *dir, char ***names, struct cpl_error *err);

#endif
