/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML as configurations use it: keys below each other by their indent, and values of
 * one line, which are kept as text. Items of lists, texts over several lines and what
 * is inside of "[...]" or "{...}" are passed over; so are anchors and tags.
 */
#include <string.h>

#include "signature/flags/flags_internal.h"

#define MAX_DEPTH 32
#define MAX_KEY 256

struct yaml_keys {
	int indent[MAX_DEPTH];
	size_t end[MAX_DEPTH]; /* of the key in text */
	int depth;
	char text[MAX_KEY];
};

/* How far the value goes: to a comment or the line's end, or over lines as long as
 * brackets are open. */
static size_t value_length(struct cpl_lines *in)
{
	const char *first = in->p, *p = first;
	char quote = *first == '"' || *first == '\'' ? *first : '\0';

	if (quote) {
		for (p++; p < in->line_end && *p != quote; p++)
			;
		return (size_t)(p - first);
	}
	for (; p < in->line_end; p++)
		if (*p == '#' && (p == first || p[-1] == ' '))
			break;
	while (p > first && strchr(" \t\r", p[-1]))
		p--;
	return (size_t)(p - first);
}

static int open_brackets(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		depth += *p == '[' || *p == '{';
		depth -= *p == ']' || *p == '}';
	}
	return depth;
}

/* This returns where the key ends, or NULL where the line has none. */
static const char *key_end(const struct cpl_lines *in)
{
	const char *p = in->p;

	for (; p < in->line_end; p++)
		if (*p == ':' && (p + 1 == in->line_end ||
		                  strchr(" \t\r", p[1])))
			return p;
	return NULL;
}

static int enter(struct cpl_lines *in, struct yaml_keys *k, int indent,
                 const char *key, size_t n)
{
	size_t at;

	while (k->depth && k->indent[k->depth - 1] >= indent)
		k->depth--;
	if (k->depth == MAX_DEPTH)
		return cpl_lines_fail(in, "keys are nested too deep");
	at = k->depth ? k->end[k->depth - 1] : 0;
	if (at + n + 2 > MAX_KEY)
		return cpl_lines_fail(in, "a key is longer than %d characters",
		                      MAX_KEY - 2);
	if (at)
		k->text[at++] = '.';
	memcpy(k->text + at, key, n);
	k->indent[k->depth] = indent;
	k->end[k->depth++] = at + n;
	return 0;
}

/* Past "&anchor" and "!tag". */
static void pass_marks(struct cpl_lines *in)
{
	while (!cpl_lines_end(in) && (*in->p == '&' || *in->p == '!'))
		while (in->p < in->line_end && !strchr(" \t\r", *in->p))
			in->p++;
}

/* Lines of a text, "|" or ">", are deeper than its key. */
static void pass_text(struct cpl_lines *in, int indent)
{
	for (;;) {
		struct cpl_lines ahead = *in;

		if (!cpl_lines_next(&ahead))
			return;
		const char *first = ahead.p;

		if (!cpl_lines_end(&ahead) && ahead.p - first <= indent)
			return;
		*in = ahead;
	}
}

static int take_entry(struct cpl_lines *in, struct yaml_keys *k, int indent,
                      struct flag_list *out)
{
	const char *key = in->p, *end = key_end(in), *value;
	size_t n, quoted = *key == '"' || *key == '\'';
	int depth;

	if (!end || end == key)
		return cpl_lines_fail(in, "'key: value' is expected");
	n = (size_t)(end - key);
	if (quoted && n >= 2 && end[-1] == *key) {
		key++;
		n -= 2;
	}
	if (enter(in, k, indent, key, n))
		return -1;
	in->p = end + 1;
	pass_marks(in);
	if (cpl_lines_done(in))
		return 0;
	if (*in->p == '|' || *in->p == '>') {
		pass_text(in, indent);
		return 0;
	}
	value = in->p;
	n = value_length(in);
	depth = *value == '[' || *value == '{'
	                ? open_brackets(value, value + n)
	                : 0;
	while (depth > 0) {
		if (!cpl_lines_next(in))
			return cpl_lines_fail(in, "a '%c' has no end", *value);
		depth += open_brackets(in->p, in->line_end);
	}
	if (*value == '"' || *value == '\'')
		value++, n--;
	if (flags_push(out, k->text, k->end[k->depth - 1], value, n, in->err))
		return -1;
	/* What is deeper goes on with it; no number that is looked for does. */
	pass_text(in, indent);
	return 0;
}

int flags_read_yaml(struct cpl_lines *in, struct flag_list *out)
{
	struct yaml_keys keys = {.depth = 0};

	while (cpl_lines_next(in)) {
		const char *first = in->p;

		if (cpl_lines_done(in))
			continue;
		if (memchr(first, '\t', (size_t)(in->p - first)))
			return cpl_lines_fail(in, "is indented by a tab");
		/* documents have marks; lists have items with what is in them */
		if (cpl_lines_take(in, "---") || cpl_lines_take(in, "..."))
			continue;
		if (*in->p == '-') {
			pass_text(in, (int)(in->p - first));
			continue;
		}
		if (take_entry(in, &keys, (int)(in->p - first), out))
			return -1;
	}
	return 0;
}
