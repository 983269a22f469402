/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/printable.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character that text begins with, 0 where it begins with
 * none (RFC 3629: shortest form, no surrogates). */
static size_t decode(const unsigned char *text, uint32_t *character)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = text[0] < 0x80   ? 1
	           : text[0] < 0xc0 ? 0
	           : text[0] < 0xe0 ? 2
	           : text[0] < 0xf0 ? 3
	           : text[0] < 0xf8 ? 4
	                            : 0;
	uint32_t c = n == 1 ? text[0] : text[0] & (0x7fU >> n);

	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	*character = c;
	return n && c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff)
	               ? n
	               : 0;
}

static bool is_printable(uint32_t c)
{
	return !(c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	         (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	         (c >= 0x2066 && c <= 0x2069));
}

/* Bytes of the character, *good: it can be printed. At least 1. */
static size_t next(const char *text, bool *good)
{
	uint32_t c;
	size_t n = decode((const unsigned char *)text, &c);

	*good = n && is_printable(c);
	return n ? n : 1;
}

char *cpl_printable(char *text)
{
	char *to = text;
	bool good;

	for (const char *from = text; *from;) {
		size_t n = next(from, &good);

		if (good)
			for (size_t i = 0; i < n; i++)
				to[i] = from[i];
		else
			*to = '?';
		to += good ? n : 1;
		from += n;
	}
	*to = '\0';
	return text;
}

bool cpl_is_printable(const char *text)
{
	bool good = true;

	while (*text && good)
		text += next(text, &good);
	return good;
}

bool cpl_is_utf8(const char *text)
{
	uint32_t c;
	size_t n = 1;

	for (; *text && n; text += n)
		n = decode((const unsigned char *)text, &c);
	return n;
}

/* Bytes of the character; *escape: its number, 0 where it may stay. jansson has
 * escaped all characters below DEL that need it, but for the newlines between
 * values. */
static size_t next_json(const char *text, uint32_t *escape)
{
	uint32_t c;
	size_t n = decode((const unsigned char *)text, &c);

	*escape = n && c >= 0x7f && !is_printable(c) ? c : 0;
	return n ? n : 1;
}

char *cpl_printable_json(char *text)
{
	size_t size = 1, n;
	uint32_t escape;
	char *out, *to;

	for (const char *from = text; *from; from += n) {
		n = next_json(from, &escape);
		size += escape ? strlen("\\uXXXX") : n;
	}
	out = to = malloc(size);
	for (const char *from = text; out && *from; from += n) {
		n = next_json(from, &escape);
		if (escape)
			to += sprintf(to, "\\u%04x", (unsigned int)escape);
		else
			to = (char *)memcpy(to, from, n) + n;
	}
	if (out)
		*to = '\0';
	free(text);
	return out;
}
