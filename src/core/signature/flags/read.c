/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of a command line: flags "--name value", "--name=value" and "--name", and
 * what Hydra overrides, "name=value". What other words say (the program, its file) is
 * not looked at; a single word with blanks is split first, as a shell would.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/json.h"
#include "signature/flags/flags_internal.h"

#define MAX_DEPTH 32

static bool is_flag(const char *word)
{
	return word[0] == '-' && (word[1] == '-' ||
	                          isalpha((unsigned char)word[1]));
}

/* This pushes a flag; *used is set where the word behind is its value. */
static int push_flag(struct flag_list *out, const char *word, const char *next,
                     bool *used, struct cpl_error *err)
{
	const char *key = word + strspn(word, "-"), *equals = strchr(key, '=');
	size_t n = equals ? (size_t)(equals - key) : strlen(key);
	const char *value = "";

	if (equals)
		value = equals + 1;
	else if (next && !is_flag(next))
		value = next;
	*used = !equals && *value;
	return flags_push(out, key, n, value, strlen(value), err);
}

static int read_words(const char *const *word, int n, struct flag_list *out,
                      struct cpl_error *err)
{
	for (int i = 0; i < n; i++) {
		const char *w = word[i], *equals = strchr(w, '=');
		bool used = false;

		if (is_flag(w)) {
			if (push_flag(out, w, i + 1 < n ? word[i + 1] : NULL,
			              &used, err))
				return -1;
			i += used;
		} else if (equals && equals > w) {
			w += strspn(w, "+");
			if (flags_push(out, w, (size_t)(equals - w), equals + 1,
			               strlen(equals + 1), err))
				return -1;
		}
	}
	return 0;
}

/* This ends the word at *text and returns it; *text goes behind it. NULL at the end.
 * Quotes and a backslash at a line's end are those of a shell. */
static char *next_word(char **text)
{
	char *in = *text, *out, *word, quote = '\0';

	while (isspace((unsigned char)*in) ||
	       (*in == '\\' && isspace((unsigned char)in[1])))
		in++;
	if (!*in)
		return NULL;
	for (word = out = in; *in; in++) {
		if (!quote && isspace((unsigned char)*in))
			break;
		if (quote ? *in == quote : *in == '"' || *in == '\'')
			quote = quote ? '\0' : *in;
		else
			*out++ = *in;
	}
	*text = *in ? in + 1 : in;
	*out = '\0';
	return word;
}

static int split_words(const char *text, struct flag_list *out,
                       struct cpl_error *err)
{
	char *copy = strdup(text), *rest = copy, **word = NULL, *next;
	int64_t n = 0;
	int rc = copy ? 0 : cpl_fail_memory(err);

	while (!rc && (next = next_word(&rest))) {
		rc = cpl_array_grow(&word, n, sizeof(*word), err);
		if (!rc)
			word[n++] = next;
	}
	if (!rc)
		rc = read_words((const char *const *)word, (int)n, out, err);
	cpl_free_all(word, copy);
	return rc;
}

int flags_read_words(const char *const *word, int n, struct flag_list *out,
                     struct cpl_error *err)
{
	return n == 1 && strpbrk(word[0], " \t\n")
	               ? split_words(word[0], out, err)
	               : read_words(word, n, out, err);
}

static int read_json(const json_t *value, const char *key, int depth,
                     struct flag_list *out, struct cpl_error *err)
{
	char *text;
	int rc;

	if (depth > MAX_DEPTH)
		return cpl_fail(err, "keys are nested too deep");
	if (json_is_object(value)) {
		const char *name;
		json_t *item;

		json_object_foreach((json_t *)value, name, item)
		{
			char longer[256];

			if (strlen(key) + strlen(name) + 2 > sizeof(longer))
				return cpl_fail(err, "key %.40s is too long",
				                name);
			strcpy(longer, key);
			if (*key)
				strcat(longer, ".");
			strcat(longer, name);
			if (read_json(item, longer, depth + 1, out, err))
				return -1;
		}
		return 0;
	}
	if (json_is_string(value))
		return flags_push(out, key, strlen(key),
		                  json_string_value(value),
		                  json_string_length(value), err);
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	if (!text)
		return cpl_fail_memory(err);
	rc = flags_push(out, key, strlen(key), text, strlen(text), err);
	free(text);
	return rc;
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcasecmp(name + n - m, end);
}

/* The format by the name's end, else by the first line that says something: 'j', 't'
 * or 'y'. */
static char format_of(struct cpl_lines in, const char *name)
{
	if (ends_in(name, ".json"))
		return 'j';
	if (ends_in(name, ".toml"))
		return 't';
	if (ends_in(name, ".yaml") || ends_in(name, ".yml"))
		return 'y';
	while (cpl_lines_next(&in))
		if (!cpl_lines_done(&in))
			break;
	if (in.p < in.line_end && *in.p == '{')
		return 'j';
	return in.p < in.line_end &&
	                       (*in.p == '[' ||
	                        memchr(in.p, '=', (size_t)(in.line_end - in.p)))
	               ? 't'
	               : 'y';
}

int flags_read_text(const char *text, size_t length, const char *name,
                    struct flag_list *out, struct cpl_error *err)
{
	struct cpl_lines in = cpl_lines_of(name, text, length, err);
	char format = format_of(in, name);
	int rc;

	if (format == 'j') {
		json_t *root = cpl_json_parse(text, length, name, err);

		if (!root)
			return -1;
		rc = json_is_object(root) ? read_json(root, "", 0, out, err)
		                          : cpl_fail(err, "is no object");
		json_decref(root);
		return rc ? cpl_fail_prefix(err, "%s: ", name) : 0;
	}
	return format == 't' ? flags_read_toml(&in, out)
	                     : flags_read_yaml(&in, out);
}
