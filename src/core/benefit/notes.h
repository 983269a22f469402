/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What jobs report of themselves, as words KEY=NUMBER of their comment in Slurm:
 * "merit=1234 seconds=56.7". `commplace note` writes them behind "commplace:", beside
 * what the user wrote; users may write them anywhere in it.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

#define CPL_NOTE_KEY_MAX 32

/* A key has letters, digits, "_", "." and "-", and begins with a letter or "_". 0, or
 * -1 with err. */
int cpl_note_check_key(const char *key, size_t length, struct cpl_error *err);

/* The number of a text, all of it, in digits with "." and "e" as C prints them; above
 * 0 and at most 1e30 (CPL_MEASURE_MOST). -1 with err. */
int cpl_note_number(const char *text, double *out, struct cpl_error *err);

/* The last number that a comment has for a key behind "commplace:", or else anywhere;
 * 0: none that is above 0 and at most 1e30. O(length). */
double cpl_note_value(const char *comment, const char *key);

/*
 * What "commplace:" has in a comment (NULL: none) with one more word or in place of
 * that of its key: "commplace: merit=1234", for cpl_comment_with. Words that are no
 * notes are left out. To free(); NULL: memory. O(length).
 */
char *cpl_notes_with(const char *comment, const char *key, const char *number);
