/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": the word of a list that a misspelt one is closest to. */
#pragma once

/* The word of the NULL-terminated list with the least edit distance
 * (Levenshtein, upper and lower case alike) from text, ties to the first; NULL
 * when that is above half of the longer word. O(lengths * length of text). */
const char *cpl_suggest(const char *text, const char *const *words);
