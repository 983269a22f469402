/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `commplace signature`. */
#ifndef CPL_CMD_SIGNATURE_H
#define CPL_CMD_SIGNATURE_H

#include "cmd.h"

struct signature_sums {
	double bytes, messages;
	int64_t pairs; /* directed pairs that talk */
};

/* What a signature amounts to over the whole run. */
struct signature_summary {
	struct signature_sums sums;
	struct signature_sums *phase; /* one execution of each */
	bool partners_known; /* else the matrix is too large for them */
	int partners_min, partners_max; /* either way, itself left out */
	double partners_mean;
	int n_blocks;         /* of ranks, at most 16 */
	double block[16][16]; /* bytes from block to block */
	int n_largest;
	struct cpl_comm_entry largest[10]; /* most bytes first */
};

/* 0, or -1 with err when memory is out. Free with signature_summary_free in
 * either case. O(messages). */
int signature_summary(const struct cpl_signature *sig,
                      struct signature_summary *out, struct cpl_error *err);

void signature_summary_free(struct signature_summary *summary);

/* One execution of a phase. The same. */
int signature_phase_sums(const struct cpl_signature *sig, int phase,
                         struct signature_sums *out, struct cpl_error *err);

/* Print it; an exit code. */
int signature_show_text(const struct cpl_signature *sig,
                        const struct signature_summary *summary);
int signature_show_json(const struct cmd *self, const struct cpl_signature *sig,
                        const struct signature_summary *summary);

#endif
