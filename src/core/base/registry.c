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

/* The i-th entry, or the next one behind it that is taken; *i: behind that.
 * Of several with one name the first stands for all. */
static const struct cpl_entry *taken(const struct cpl_registry *r, int *i,
                                     cpl_entry_filter *takes,
                                     const void *context)
{
	const struct cpl_entry *e;

	do
		e = cpl_registry_at(r, (*i)++);
	while (e && ((takes && !takes(e, context)) ||
	             cpl_registry_find(r, e->name, strlen(e->name), takes,
	                               context) != e));
	return e;
}

char *cpl_registry_names(const struct cpl_registry *r, unsigned style,
                         cpl_entry_filter *takes, const void *context,
                         char *text, size_t size)
{
	const struct cpl_entry *e, *next;
	size_t n = 0;
	int i = 0;

	text[0] = '\0';
	for (e = taken(r, &i, takes, context); e && n < size; e = next) {
		const char *alias =
		        style & CPL_NAMES_SHORT ? e->short_name : NULL;
		const char *comma = n ? ", " : "";

		next = taken(r, &i, takes, context);
		if (n && !next && style & CPL_NAMES_OR)
			comma = " or ";
		n += (size_t)snprintf(text + n, size - n, "%s%s%s%s%s", comma,
		                      e->name, alias ? " (" : "",
		                      alias ? alias : "", alias ? ")" : "");
	}
	return text;
}

const struct cpl_entry *cpl_registry_format(const struct cpl_registry *registry,
                                            const char *name,
                                            struct cpl_error *err)
{
	const struct cpl_entry *found = cpl_registry_find(
	        registry, name, strlen(name), NULL, NULL);
	char list[160];

	if (!found)
		cpl_fail(err, "unknown format '%.40s'; it must be one of %s",
		         name,
		         cpl_registry_names(registry, 0, NULL, NULL, list,
		                            sizeof(list)));
	return found;
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
