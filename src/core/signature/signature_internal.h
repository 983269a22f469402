/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared between the files of this room only. */
#ifndef CPL_SIGNATURE_INTERNAL_H
#define CPL_SIGNATURE_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/comm.h"
#include "signature/signature.h"

/* Bytes and messages of one pair, and weights, end here: sums stay finite. */
#define SIGNATURE_MAX_AMOUNT 1e18

/* A growing list of entries. Zero-initialise; free(list.entry). */
struct entry_list {
	struct cpl_comm_entry *entry;
	int64_t n;
	bool scanned; /* read by scan_traffic() */
};

/* Add one behind the others. 0, or -1 with err (memory). O(1), in the mean. */
int entry_push(struct entry_list *list, const struct cpl_comm_entry *entry,
               struct cpl_error *err);

/* Every rank below `ranks`, or -1 with err "traffic row 3: ...". */
int entries_check(const struct entry_list *list, int ranks, const char *what,
                  struct cpl_error *err);

/*
 * Large matrices would be slow and fat as a JSON tree: scan_traffic() takes the
 * phases' "traffic" out of the text into list[phase] and leaves a 0 and line
 * breaks, so that the JSON parser sees the small rest. 0, or -1 with
 * "NAME:LINE:COLUMN: ...". O(length).
 */
struct scan {
	struct entry_list *list; /* [n_phases] */
	int n_phases;
	int64_t max_rows; /* of all phases together; 0: no limit */
};

int scan_traffic(char *text, size_t length, const char *name, struct scan *scan,
                 struct cpl_error *err);
void scan_free(struct scan *scan);

/* Memory that the matrices of a signature may take, bytes. */
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

/* Bytes of an entry in the matrix of the whole run and in its graph, where a
 * pair may be there twice, or not. */
#define BUDGET_ENTRY 60
#define BUDGET_SYMMETRIC 40
/* Bytes of an entry while it is read: in the file's text or copy, and in a
 * list. */
#define BUDGET_STORED 48

/* Take n entries more, of a file or of a pattern. 0, or -1 with err. */
int budget_store(struct matrix_budget *budget, int64_t n,
                 struct cpl_error *err);
int budget_take(struct matrix_budget *budget, int64_t n, int bytes,
                struct cpl_error *err);

/* Where a signature is read from. */
struct source {
	const char *path; /* for side files; NULL: from memory */
	const struct cpl_signature_limits *limits; /* NULL: none */
	struct cpl_signature *sig; /* being read: gets its files */
	struct scan scan;
	struct matrix_budget budget;
};

/* Open a file of the signature, and note it there. -1 with err and errno. */
int source_open(struct source *src, const char *path, uint64_t max,
                struct cpl_file_stamp *stamp, struct cpl_error *err);
/* Tell the caller who asked for that that files are being read now, or no
 * longer. */
void source_reads(const struct source *src, bool reads);

/* A phase's side file, see commplace-signature(5), in the folder of src->path.
 * */
struct cpl_comm *side_file_load(struct source *src, const char *file, int ranks,
                                struct cpl_error *err);
int side_file_write(const struct cpl_comm *comm, const char *path,
                    struct cpl_error *err);

/* Free the generator; NULL is taken. */
void pattern_free(struct cpl_pattern *pattern);

/* Entries of all patterns' matrices together, 20 bytes each. */
#define PATTERN_MAX_STORED (1 << 22)

/* The "pattern" object for this many ranks: its generator, and its matrix where
 * budget->left allows. 0, or -1 with err. */
int pattern_take(const json_t *object, int ranks, struct matrix_budget *budget,
                 struct cpl_phase *phase, struct cpl_error *err);

#endif
