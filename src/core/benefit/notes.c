/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "benefit/notes.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benefit/jobs.h"

#define MARK "commplace:"
#define MEMBER "\"commplace\":\"" /* of a comment that is a JSON object */
#define DIGITS "0123456789"

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.-", c));
}

int cpl_note_check_key(const char *key, size_t length, struct cpl_error *err)
{
	size_t n = 0;

	while (n < length && is_name(key[n]))
		n++;
	if (length && n == length && length <= CPL_NOTE_KEY_MAX &&
	    (isalpha((unsigned char)*key) || *key == '_'))
		return 0;
	return cpl_fail(err, "a key has up to %d letters, digits, _ . and -, and "
	                     "begins with a letter or _",
	                CPL_NOTE_KEY_MAX);
}

/* How long the number is that a text begins with; 0: with none. What strtod takes
 * besides, such as 0x10, inf and blanks, is none. */
static size_t number_at(const char *text, double *out)
{
	size_t n = strspn(text, "+");
	char *end;

	n += strspn(text + n, DIGITS ".");
	if (n && (text[n] == 'e' || text[n] == 'E')) {
		size_t e = n + 1 + (text[n + 1] == '+' || text[n + 1] == '-');

		if (strspn(text + e, DIGITS))
			n = e + strspn(text + e, DIGITS);
	}
	*out = strtod(text, &end);
	return end == text + n ? n : 0;
}

static bool is_in_bounds(double value)
{
	return value >= 1 / CPL_MEASURE_MOST && value <= CPL_MEASURE_MOST;
}

int cpl_note_number(const char *text, double *out, struct cpl_error *err)
{
	size_t n = number_at(text, out);

	if (n && !text[n] && is_in_bounds(*out))
		return 0;
	return cpl_fail(err, "it must be a number above 0 and at most 1e30");
}

/* Our part of a comment, and how long it is. */
static const char *ours_in(const char *comment, size_t *length)
{
	const char *at = strstr(comment, MEMBER);

	if (at) {
		at += strlen(MEMBER);
		*length = strcspn(at, "\"");
		return at;
	}
	at = strstr(comment, MARK);
	at = at ? at + strlen(MARK) : "";
	*length = strcspn(at, ";");
	return at;
}

/* The last number of a key in so much of a comment; 0: none. */
static double value_in(const char *text, size_t length, const char *comment,
                       const char *key)
{
	size_t name = strlen(key);
	double found = 0;

	for (const char *at = text; name && (at = strstr(at, key)) &&
	                            (size_t)(at - text) < length;
	     at += name) {
		const char *value = at + name + 1;
		double number;
		size_t n;

		if (at[name] != '=' || (at > comment && is_name(at[-1])))
			continue;
		n = number_at(value, &number);
		if (n && !is_name(value[n]))
			found = is_in_bounds(number) ? number : 0;
	}
	return found;
}

double cpl_note_value(const char *comment, const char *key)
{
	size_t length;
	const char *ours = ours_in(comment, &length);
	double found = value_in(ours, length, ours, key);

	return found > 0 ? found
	                 : value_in(comment, strlen(comment), comment, key);
}

/* Is a word a note, and not one of that key? */
static bool is_kept(const char *word, size_t length, const char *key)
{
	const char *equals = memchr(word, '=', length);
	size_t n = equals ? (size_t)(equals - word) : 0;
	double value;

	return n && n + 1 < length && !cpl_note_check_key(word, n, NULL) &&
	       number_at(equals + 1, &value) == length - n - 1 &&
	       (n != strlen(key) || strncmp(word, key, n) != 0);
}

char *cpl_notes_with(const char *comment, const char *key, const char *number)
{
	static const char blanks[] = " \t\r\n";
	size_t left, size;
	const char *at = ours_in(comment ? comment : "", &left);
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(MARK, out);
	while (left) {
		size_t word = strcspn(at, " \t\r\n");

		word = word < left ? word : left;
		if (is_kept(at, word, key))
			fprintf(out, " %.*s", (int)word, at);
		word += word < left && strchr(blanks, at[word]);
		at += word;
		left -= word;
	}
	fprintf(out, " %s=%s", key, number);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
