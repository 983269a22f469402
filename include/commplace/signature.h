/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures: who sends how much to whom in one run of an application. */
#ifndef COMMPLACE_SIGNATURE_H
#define COMMPLACE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

COMMPLACE_BEGIN

struct commplace_signature;

/*
 * Read a signature, commplace-signature(5), from a file or from text[length]
 * (name: of the text, in messages). Patterns are not expanded. NULL with err.
 * O(rows log rows).
 */
COMMPLACE_API struct commplace_signature *
commplace_signature_load(const char *path, struct commplace_error *err);
COMMPLACE_API struct commplace_signature *
commplace_signature_parse(const char *text, size_t length, const char *name,
                          struct commplace_error *err);
/*
 * The same from n entries: from[i] sends bytes[i] in messages[i] (NULL: one each)
 * to to[i]. Entries of one pair are added up. It has one phase, of weight 1. NULL
 * with err: a rank outside 0 .. ranks - 1, an amount that is negative, no number
 * or more than 1e18, a name of no printable characters, memory. O(n log n), O(n)
 * in order.
 */
COMMPLACE_API struct commplace_signature *
commplace_signature_make(const char *name, int ranks, int64_t n,
                         const int *from, const int *to, const double *bytes,
                         const double *messages, struct commplace_error *err);
/* Write it as commplace-signature(5), in place of a file that is there. Returns
 * 0, or -1 with err. */
COMMPLACE_API int
commplace_signature_write(const struct commplace_signature *signature,
                          const char *path, struct commplace_error *err);
COMMPLACE_API void
commplace_signature_free(struct commplace_signature *signature);

COMMPLACE_API const char *
commplace_signature_name(const struct commplace_signature *signature);
/* NULL where the file does not say. */
COMMPLACE_API const char *
commplace_signature_application(const struct commplace_signature *signature);
COMMPLACE_API int
commplace_signature_ranks(const struct commplace_signature *signature);

/* Phases 0 .. count - 1; NULL and 0 where there is no such phase. Weight: how
 * often the phase runs. */
COMMPLACE_API int
commplace_signature_phases(const struct commplace_signature *signature);
COMMPLACE_API const char *
commplace_signature_phase_name(const struct commplace_signature *signature,
                               int phase);
COMMPLACE_API double
commplace_signature_phase_weight(const struct commplace_signature *signature,
                                 int phase);
/*
 * The matrix of one execution of a phase, in compressed rows: what rank r sends is
 * at rows[r] .. rows[r + 1] - 1 of the others, by increasing receiver. NULL where
 * there is no such phase, or its pattern is too large to be stored.
 */
COMMPLACE_API const int64_t *
commplace_signature_phase_rows(const struct commplace_signature *signature,
                               int phase);
COMMPLACE_API const int *
commplace_signature_phase_to(const struct commplace_signature *signature,
                             int phase);
COMMPLACE_API const double *
commplace_signature_phase_bytes(const struct commplace_signature *signature,
                                int phase);
COMMPLACE_API const double *
commplace_signature_phase_messages(const struct commplace_signature *signature,
                                   int phase);

COMMPLACE_END

#endif
