/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TOML 1.0 as configurations use it: tables, dotted keys, and values, which are kept
 * as text, arrays and inline tables in one piece. Dates, escapes in strings and what
 * is inside of arrays are not looked at.
 */
#include <string.h>

#include "signature/flags/flags_internal.h"

#define MAX_KEY 256

struct toml_key {
	char text[MAX_KEY];
	size_t n;
};

static int add_character(struct cpl_lines *in, struct toml_key *key, char c)
{
	if (key->n == MAX_KEY - 1)
		return cpl_lines_fail(in, "a key is longer than %d characters",
		                      MAX_KEY - 1);
	key->text[key->n++] = c;
	key->text[key->n] = '\0';
	return 0;
}

/* A name of a dotted key, in quotes or not. */
static int take_name(struct cpl_lines *in, struct toml_key *key)
{
	char quote = *in->p == '"' || *in->p == '\'' ? *in->p++ : '\0';
	const char *first = in->p;

	while (in->p < in->line_end &&
	       (quote ? *in->p != quote : !strchr(" \t\r.=]\"'", *in->p)))
		if (add_character(in, key, *in->p++))
			return -1;
	if (in->p == first || (quote && in->p == in->line_end))
		return cpl_lines_fail(in, "a key is missing or has no end");
	in->p += quote != '\0';
	return 0;
}

static int take_key(struct cpl_lines *in, struct toml_key *key)
{
	for (;;) {
		if (cpl_lines_end(in))
			return cpl_lines_fail(in, "a key is missing");
		if (take_name(in, key))
			return -1;
		if (cpl_lines_end(in) || *in->p != '.')
			return 0;
		in->p++;
		if (add_character(in, key, '.'))
			return -1;
	}
}

/* A text of one line, or with three quotes of more, without these. */
static int take_string(struct cpl_lines *in, const char **first, size_t *n)
{
	char quote = *in->p;
	bool longer = in->line_end - in->p >= 3 && in->p[1] == quote &&
	              in->p[2] == quote;
	const char *end = longer ? in->end : in->line_end, *p;

	*first = p = in->p + (longer ? 3 : 1);
	for (; p < end; p++) {
		if (*p == '\\' && quote == '"')
			p++;
		else if (*p == quote &&
		         (!longer || (end - p >= 3 && p[1] == quote &&
		                      p[2] == quote)))
			break;
	}
	if (p >= end)
		return cpl_lines_fail(in, "a text has no end");
	*n = (size_t)(p - *first);
	p += longer ? 3 : 1;
	while (p > in->line_end && cpl_lines_next(in))
		;
	in->p = p;
	return 0;
}

/* An array or inline table with all that is in it, over lines. */
static int take_nested(struct cpl_lines *in, const char **first, size_t *n)
{
	const char *text;
	int depth = 0;
	size_t length;

	*first = in->p;
	do {
		while (in->p == in->line_end || *in->p == '#') {
			if (!cpl_lines_next(in))
				return cpl_lines_fail(in, "a '%c' has no end",
				                      **first);
		}
		if (*in->p == '"' || *in->p == '\'') {
			if (take_string(in, &text, &length))
				return -1;
			continue;
		}
		depth += *in->p == '[' || *in->p == '{';
		depth -= *in->p == ']' || *in->p == '}';
		in->p++;
	} while (depth);
	*n = (size_t)(in->p - *first);
	return 0;
}

static int take_value(struct cpl_lines *in, const char **first, size_t *n)
{
	if (cpl_lines_done(in))
		return cpl_lines_fail(in, "a value is missing");
	if (*in->p == '"' || *in->p == '\'')
		return take_string(in, first, n);
	if (*in->p == '[' || *in->p == '{')
		return take_nested(in, first, n);
	*first = in->p;
	while (in->p < in->line_end && *in->p != '#')
		in->p++;
	*n = (size_t)(in->p - *first);
	while (*n && strchr(" \t\r", (*first)[*n - 1]))
		--*n;
	return 0;
}

/* "[training]", or "[[item]]" */
static int take_table(struct cpl_lines *in, struct toml_key *table)
{
	bool item = in->line_end - in->p > 1 && in->p[1] == '[';

	in->p += item ? 2 : 1;
	table->n = 0;
	if (take_key(in, table))
		return -1;
	if (!cpl_lines_take(in, item ? "]]" : "]") || !cpl_lines_done(in))
		return cpl_lines_fail(in, "a table's name has no end");
	return 0;
}

int flags_read_toml(struct cpl_lines *in, struct flag_list *out)
{
	struct toml_key table = {"", 0}, key;
	const char *value;
	size_t n;

	while (cpl_lines_next(in)) {
		if (cpl_lines_done(in))
			continue;
		if (*in->p == '[') {
			if (take_table(in, &table))
				return -1;
			continue;
		}
		key = table;
		if ((key.n && add_character(in, &key, '.')) ||
		    take_key(in, &key))
			return -1;
		if (!cpl_lines_take(in, "="))
			return cpl_lines_fail(in, "'=' is missing");
		if (take_value(in, &value, &n))
			return -1;
		if (!cpl_lines_done(in))
			return cpl_lines_fail(in, "goes on behind the value");
		if (flags_push(out, key.text, key.n, value, n, in->err))
			return -1;
	}
	return 0;
}
