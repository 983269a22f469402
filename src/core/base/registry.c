/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/registry.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"

#define MAX_WORDS 128

bool cpl_entry_has(const struct cpl_entry *entry, const void *flags)
{
	unsigned want = *(const unsigned *)flags;

	return (entry->flags & want) == want;
}

bool cpl_entry_lacks(const struct cpl_entry *entry, const void *flags)
{
	return !(entry->flags & *(const unsigned *)flags);
}

static bool is_name(const struct cpl_registry *r, const char *own,
                    const char *name, size_t length)
{
	if (!own || strlen(own) != length)
		return false;
	return !(r->exact ? strncmp(own, name, length)
	                  : strncasecmp(own, name, length));
}

const struct cpl_entry *cpl_registry_at(const struct cpl_registry *r, int i)
{
	const struct cpl_entry *const *e = r->entry;

	for (int n = 0; i >= 0 && r->base; n++, i--) {
		const struct cpl_entry *first = cpl_registry_at(r->base, n);

		if (!first)
			break;
		if (i == 0)
			return first;
	}
	while (*e && i > 0) {
		e++;
		i--;
	}
	return i < 0 ? NULL : *e;
}

const struct cpl_entry *cpl_registry_find(const struct cpl_registry *r,
                                          const char *name, size_t length,
                                          cpl_entry_filter *takes,
                                          const void *context)
{
	const struct cpl_entry *e;

	for (int i = 0; (e = cpl_registry_at(r, i)); i++)
		if ((is_name(r, e->name, name, length) ||
		     is_name(r, e->short_name, name, length)) &&
		    (!takes || takes(e, context)))
			return e;
	return NULL;
}

char *cpl_registry_names(const struct cpl_registry *r, unsigned style,
                         cpl_entry_filter *takes, const void *context,
                         char *text, size_t size)
{
	const struct cpl_entry *next = NULL;
	size_t n = 0;

	text[0] = '\0';
	/* One behind, to know the last. */
	for (int i = 0; i == 0 || cpl_registry_at(r, i - 1); i++) {
		const struct cpl_entry *e = cpl_registry_at(r, i), *now = next;
		const char *comma = n ? ", " : "";
		bool with_short;

		if (e && takes && !takes(e, context))
			continue;
		next = e;
		if (!now)
			continue;
		if (n && !e && style & CPL_NAMES_OR)
			comma = " or ";
		with_short = style & CPL_NAMES_SHORT && now->short_name;
		n += (size_t)snprintf(text + n, size - n, "%s%s%s%s%s", comma,
		                      now->name, with_short ? " (" : "",
		                      with_short ? now->short_name : "",
		                      with_short ? ")" : "");
		if (n >= size)
			break;
	}
	return text;
}

int cpl_registry_words(const struct cpl_registry *r, const char **words,
                       int capacity)
{
	const struct cpl_entry *e;
	int n = 0;

	for (int i = 0; (e = cpl_registry_at(r, i)) && n + 1 < capacity; i++)
		words[n++] = e->name;
	words[n] = NULL;
	return n;
}

const char *cpl_registry_hint(const struct cpl_registry *r, const char *name,
                              char *text, size_t size)
{
	const char *words[MAX_WORDS], *nearest;

	cpl_registry_words(r, words, MAX_WORDS);
	nearest = cpl_suggest(name, words);
	text[0] = '\0';
	if (nearest)
		snprintf(text, size, " (did you mean %s?)", nearest);
	return text;
}
