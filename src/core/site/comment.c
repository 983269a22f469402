/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/comment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "commplace:"
#define MEMBER "\"commplace\":\""

/* The length of text without the white space at its end. */
static size_t trimmed(const char *text)
{
	size_t n = strlen(text);

	while (n && strchr(" \t\r\n", text[n - 1]))
		n--;
	return n;
}

/* Is it an object by its braces? What is between them is its owner's matter. */
static bool is_object(const char *text)
{
	size_t n = trimmed(text);

	return n > 1 && text[strspn(text, " \t\r\n")] == '{' &&
	       text[n - 1] == '}';
}

/* The quote that ends a JSON string, or the end of text. */
static const char *string_end(const char *text)
{
	while (*text && *text != '"')
		text += text[0] == '\\' && text[1] ? 2 : 1;
	return text;
}

/* Our text as a JSON string's characters, which is ASCII. */
static void print_member(FILE *out, const char *text)
{
	if (!strncmp(text, MARK, strlen(MARK)))
		text += strlen(MARK);
	text += *text == ' ';
	for (int i = 0; i < CPL_COMMENT_MAX && text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			putc('\\', out);
		putc(c < ' ' || c > '~' ? '?' : c, out);
	}
}

static void print_object(FILE *out, const char *old, const char *text)
{
	const char *ours = strstr(old, MEMBER);
	const char *end = old + trimmed(old) - 1, *rest = end;
	size_t before = (size_t)(end - old);
	bool empty = end[-1] == '{';

	for (const char *at = end - 1; at > old && strchr(" \t\r\n", *at); at--)
		empty = at[-1] == '{';
	if (ours) {
		before = (size_t)(ours - old);
		rest = string_end(ours + strlen(MEMBER));
	}
	fwrite(old, 1, before, out);
	if (!ours && !empty)
		putc(',', out);
	fputs(MEMBER, out);
	print_member(out, text);
	fprintf(out, "%s%s", *rest == '"' ? "" : "\"", *rest ? rest : "}");
}

/* Parts of a plain comment are separated by semicolons: ours has none. */
static void print_plain(FILE *out, const char *old, const char *text)
{
	const char *ours = strstr(old, MARK);
	const char *rest = ours ? ours + strcspn(ours, ";") : "";
	size_t before = ours ? (size_t)(ours - old) : strlen(old);

	fwrite(old, 1, before, out);
	if (!ours && before)
		fputs("; ", out);
	for (int i = 0; i < CPL_COMMENT_MAX && text[i]; i++)
		putc(text[i] == ';' ? ',' : text[i], out);
	fputs(rest, out);
}

char *cpl_comment_with(const char *old, const char *text)
{
	char *both = NULL;
	size_t length;
	FILE *out = open_memstream(&both, &length);

	if (!out)
		return NULL;
	if (old && is_object(old))
		print_object(out, old, text);
	else
		print_plain(out, old ? old : "", text);
	if (!fclose(out))
		return both;
	free(both);
	return NULL;
}
