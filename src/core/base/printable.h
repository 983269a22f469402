/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of users and files in lines for people: what would move a terminal's
 * cursor, colour it, begin a line of its own or turn the order of letters
 * becomes "?": control characters (C0, DEL, C1), separators of lines and
 * paragraphs, marks of direction, and bytes that are not UTF-8.
 */
#pragma once

#include <stdbool.h>

/* In place; it gets no longer. Returns text. O(length). */
char *cpl_printable(char *text);

/* Is there nothing of that kind in it? */
bool cpl_is_printable(const char *text);

/* Is it UTF-8? O(length). */
bool cpl_is_utf8(const char *text);

/* JSON text as jansson dumps it, which leaves DEL and what is above it in
 * strings as it is, with those characters as \uXXXX: the same values. Takes text,
 * of malloc(), and returns such; NULL: memory. O(length). */
char *cpl_printable_json(char *text);
