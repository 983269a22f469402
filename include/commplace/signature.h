/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures: who sends how much to whom in one run of an application. */
#ifndef COMMPLACE_SIGNATURE_H
#define COMMPLACE_SIGNATURE_H

#include <stddef.h>

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

COMMPLACE_END

#endif
