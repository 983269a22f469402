/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of named things: network types, routings, policies, mappers, binders,
 * patterns, importers, readers, objectives. A thing begins with an entry; its
 * table is one array, one line for each. What lists names (messages, --help,
 * man pages) asks the table.
 *
 *	struct cpl_placement_policy {
 *		CPL_ENTRY;
 *		int (*place)(...);
 *	};
 *	const struct cpl_placement_policy cpl_placement_linear = {
 *		.name = "linear", .short_name = "LIN", .summary = "...",
 *		.place = place,
 *	};
 *	static const struct cpl_entry *const table[] = {
 *		&cpl_placement_linear.entry, ..., NULL,
 *	};
 *	const struct cpl_registry cpl_placements = {.entry = table};
 *
 * scripts/registry.awk writes such a table from the files that define things:
 * then a file and its line in the room's list of sources are all that a new
 * one needs.
 */
#ifndef CPL_BASE_REGISTRY_H
#define CPL_BASE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#define CPL_ENTRY_FIELDS                                                       \
	const char *name;       /* "random-routers" */                         \
	const char *short_name; /* "RDR"; NULL: none */                        \
	const char *summary;    /* one line for lists; NULL: none */           \
	unsigned flags          /* the table's own */

struct cpl_entry {
	CPL_ENTRY_FIELDS;
};

/* The first member of a thing: its fields are the thing's, and all of them are
 * its `entry`. */
#define CPL_ENTRY                                                              \
	union {                                                                \
		struct cpl_entry entry;                                        \
		struct {                                                       \
			CPL_ENTRY_FIELDS;                                      \
		};                                                             \
	}

struct cpl_registry {
	const struct cpl_entry *const *entry; /* NULL-terminated, in the order
	                                       * of lists */
	bool exact; /* upper and lower case are not alike in names */
	/* Entries that come before its own: a program adds to a table of the
	 * library. NULL: none. */
	const struct cpl_registry *base;
};

/* The i-th entry, NULL when there are fewer. O(i). */
const struct cpl_entry *cpl_registry_at(const struct cpl_registry *registry,
                                        int i);

/* May this entry be meant, or listed? */
typedef bool cpl_entry_filter(const struct cpl_entry *entry,
                              const void *context);

/* Filters: has the entry all of these flags, or none of them? Context: a
 * const unsigned. */
bool cpl_entry_has(const struct cpl_entry *entry, const void *flags);
bool cpl_entry_lacks(const struct cpl_entry *entry, const void *flags);

/*
 * The entry of that long or short name, or NULL; the first `length` characters
 * of name, where what follows is an option. takes (NULL: all) passes over
 * others. Cast it to the thing. O(entries).
 */
const struct cpl_entry *cpl_registry_find(const struct cpl_registry *registry,
                                          const char *name, size_t length,
                                          cpl_entry_filter *takes,
                                          const void *context);

/* How names are listed. */
enum {
	CPL_NAMES_SHORT = 1, /* "linear (LIN), random-nodes (RDN)" */
	CPL_NAMES_OR = 2,    /* "a, b or c", not "a, b, c" */
};

/*
 * The names of all entries that are taken, into text[size], cut where it is
 * full; returns text. O(text).
 */
char *cpl_registry_names(const struct cpl_registry *registry, unsigned style,
                         cpl_entry_filter *takes, const void *context,
                         char *text, size_t size);

/* The names into words[capacity], NULL-terminated, for cpl_suggest; returns how
 * many. */
int cpl_registry_words(const struct cpl_registry *registry, const char **words,
                       int capacity);

/* For messages: " (did you mean NAME?)" of the nearest name, see cpl_suggest,
 * or "", into text[size], which it returns. */
const char *cpl_registry_hint(const struct cpl_registry *registry,
                              const char *name, char *text, size_t size);

#endif
