/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared between the files of this room only. */
#ifndef CPL_SIGNATURE_INTERNAL_H
#define CPL_SIGNATURE_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "signature/comm.h"
#include "signature/signature.h"

/* Bytes and messages of one pair, and weights, end here: sums stay finite. */
#define SIGNATURE_MAX_AMOUNT 1e18

/* An empty matrix with room for n_entries. NULL when memory is out. */
struct cpl_comm *comm_new(int ranks, int64_t n_entries, struct cpl_error *err);

/* Cut the matrix to its first n_entries entries and give memory back. */
void comm_shrink(struct cpl_comm *comm, int64_t n_entries);

/* Sort by .to, stable, so that equal pairs are added up in their order of
 * input. scratch has room for n / 2 entries. O(n log n). */
void comm_sort_row(struct cpl_comm_entry *entry, int64_t n,
                   struct cpl_comm_entry *scratch);

/* Append a sorted row at out->to[used]; equal pairs are added up. Rows come in
 * order, from row 0 on. Returns the entries used so far. */
int64_t comm_append_row(struct cpl_comm *out, int row, int64_t used,
                        const struct cpl_comm_entry *entry, int64_t n);

/* A growing list of entries. Zero-initialise; free(list.entry). */
struct entry_list {
	struct cpl_comm_entry *entry;
	int64_t n, room;
	bool scanned; /* read by scan_traffic() */
};

int entry_push(struct entry_list *list, const struct cpl_comm_entry *entry,
               struct cpl_error *err);

/* Every rank below `ranks`, or -1 with err "traffic row 3: ...". */
int entries_check(const struct entry_list *list, int ranks, const char *what,
                  struct cpl_error *err);

/*
 * Large matrices would be slow and fat as a JSON tree: scan_traffic() reads
 * the "traffic" arrays of the phases straight from the text into lists[phase]
 * and blanks them there (a 0 stands in their place, line breaks stay), so that
 * the JSON parser sees the small rest. Malformed JSON outside of these arrays
 * is left to that parser. Returns 0, or -1 with "NAME:LINE:COLUMN: ...". Free
 * with scan_free(). O(length).
 */
struct scan {
	struct entry_list *list; /* [n_phases] */
	int n_phases;
};

int scan_traffic(char *text, size_t length, const char *name, struct scan *scan,
                 struct cpl_error *err);
void scan_free(struct scan *scan);

/*
 * The side file of a phase, see commplace-signature(5). file is a plain name
 * in the folder of signature_path.
 */
struct cpl_comm *side_file_load(const char *signature_path, const char *file,
                                int ranks, struct cpl_error *err);
int side_file_write(const struct cpl_comm *comm, const char *path,
                    struct cpl_error *err);

/* Free the generator; NULL is taken. */
void pattern_free(struct cpl_pattern *pattern);

/* The patterns of a signature together keep matrices of at most so many
 * entries: 20 bytes each. */
#define PATTERN_MAX_STORED (1 << 22)

/*
 * The "pattern" object for this many ranks: its generator, and its matrix when
 * that fits into *room entries, which it takes. 0, or -1 with err.
 */
int pattern_take(const json_t *object, int ranks, int64_t *room,
                 struct cpl_phase *phase, struct cpl_error *err);

#endif
