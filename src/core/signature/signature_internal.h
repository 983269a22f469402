/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is shared between the files of this room only. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/comm.h"
#include "signature/signature.h"

/* Bytes and messages of one pair, and weights, are limited to this so that sums
 * stay finite. */
#define SIGNATURE_MAX_AMOUNT 1e18

/* This is a growing list of entries. Zero-initialise it; free(list.entry). */
struct entry_list {
	struct cpl_comm_entry *entry;
	int64_t n;
	bool scanned; /* read by scan_traffic() */
};

/* This adds an entry behind the others. It returns 0, or -1 with err when memory is
 * out. It costs O(1) in the mean. */
int entry_push(struct entry_list *list, const struct cpl_comm_entry *entry,
               struct cpl_error *err);

/* This checks that every rank is below `ranks`. Returns -1 with err "traffic row 3:
 * ...". */
int entries_check(const struct entry_list *list, int ranks, const char *what,
                  struct cpl_error *err);

/* Large matrices would be slow and fat as a JSON tree. So scan_traffic() takes the
 * phases' "traffic" out of the text into list[phase] and leaves a 0 and line
 * breaks; the JSON parser sees only the small rest. It returns 0, or -1 with
 * "NAME:LINE:COLUMN: ...". It costs O(length). */
struct scan {
	struct entry_list *list; /* [n_phases] */
	int n_phases;
	int64_t max_rows; /* of all phases together; 0: no limit */
};

int scan_traffic(char *text, size_t length, const char *name, struct scan *scan,
                 struct cpl_error *err);
void scan_free(struct scan *scan);

/* This is the memory in bytes that the matrices of a signature may take. */
struct matrix_budget {
	int64_t left;     /* entries that patterns may still store */
	uint64_t max;     /* 0: no limit */
	uint64_t rows;    /* one number for each rank and matrix */
	uint64_t entries; /* of the run's matrix and graph, were no pair in
	                   * two phases */
	uint64_t most;    /* and with all pairs of ranks */
	uint64_t stored;  /* entries as they are read from files */
	int64_t pairs;    /* in all phases */
};

/* These are the bytes of an entry in the matrix of the whole run and in its graph,
 * where a pair may be stored twice, or only once. */
#define BUDGET_ENTRY 60
#define BUDGET_SYMMETRIC 40
/* These are the bytes of an entry while it is read, in the file's text or copy and
 * in a list. */
#define BUDGET_STORED 48

/* This takes n more entries, of a file or of a pattern. It returns 0, or -1 with
 * err. */
int budget_store(struct matrix_budget *budget, int64_t n,
                 struct cpl_error *err);
int budget_take(struct matrix_budget *budget, int64_t n, int bytes,
                struct cpl_error *err);

/* A signature is read from this. */
struct source {
	const char *path; /* for side files; NULL: from memory */
	const struct cpl_signature_limits *limits; /* NULL: none */
	struct cpl_signature *sig; /* being read: gets its files */
	struct scan scan;
	struct matrix_budget budget;
};

/* This opens a file of the signature and notes it there. It returns -1 with err and
 * errno. */
int source_open(struct source *src, const char *path, uint64_t max,
                struct cpl_file_stamp *stamp, struct cpl_error *err);
/* This tells a caller who asked for it that files are being read now, or no
 * longer. */
void source_reads(const struct source *src, bool reads);

/* This loads a phase's side file, see commplace-signature(5), from the folder of
 * src->path. */
struct cpl_comm *side_file_load(struct source *src, const char *file, int ranks,
                                struct cpl_error *err);
int side_file_write(const struct cpl_comm *comm, const char *path,
                    struct cpl_error *err);

/* This frees the generator, which may be NULL. */
void pattern_free(struct cpl_pattern *pattern);

/* This limits the entries of all patterns' matrices together, of 20 bytes each. */
#define PATTERN_MAX_STORED (1 << 22)

/* This reads the "pattern" object for this many ranks into a generator, and a
 * matrix where budget->left allows it. It returns 0, or -1 with err. */
int pattern_take(const json_t *object, int ranks, struct matrix_budget *budget,
                 struct cpl_phase *phase, struct cpl_error *err);
