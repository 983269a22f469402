/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of named things: network types, routings, policies, mappers ... What
 * lists names (messages, --help, man pages) asks the table.
 *
 *	struct cpl_placement_policy {
 *		CPL_ENTRY;
 *		int (*place)(...);
 *	};
 *	const struct cpl_placement_policy cpl_placement_linear = {
 *		.name = "linear", .short_name = "LIN", .summary = "...",
 *		.place = place,
 *	};
 *
 * scripts/registry.awk writes a table from the files that define things: a file
 * and its line in the room's list of sources are all that a new one needs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define CPL_ENTRY_FIELDS                                                       \
	const char *name;       /* "random-routers" */                         \
	const char *short_name; /* "RDR"; NULL: none */                        \
	const char *summary;    /* one line for lists; NULL: none */           \
	unsigned flags          /* the table's own */

struct cpl_entry {
	CPL_ENTRY_FIELDS;
};

/* The first member of a thing: these fields, together its `entry`. */
#define CPL_ENTRY                                                              \
	union {                                                                \
		struct cpl_entry entry;                                        \
		struct {                                                       \
			CPL_ENTRY_FIELDS;                                      \
		};                                                             \
	}

/* A flag of names alone (scripts/registry.awk): an option may stand behind a
 * colon. */
#define CPL_NAME_OPTION (1u << 31)

struct cpl_registry {
	const struct cpl_entry *const *entry; /* NULL-terminated, in the order
	                                       * of lists */
	bool exact; /* upper and lower case are not alike in names */
	/* Entries that come before its own, or NULL. */
	const struct cpl_registry *base;
};

/* The i-th entry, NULL when there are fewer. O(i). */
const struct cpl_entry *cpl_registry_at(const struct cpl_registry *registry,
                                        int i);

/* Is this entry taken? */
typedef bool cpl_entry_filter(const struct cpl_entry *entry,
                              const void *context);

/* Filters: has the entry all of these flags, or none of them? Context: a
 * const unsigned. */
bool cpl_entry_has(const struct cpl_entry *entry, const void *flags);
bool cpl_entry_lacks(const struct cpl_entry *entry, const void *flags);

/* The first entry that is taken (takes NULL: all) of which the first `length`
 * characters of name are the long or short name, or NULL. Cast it to the thing.
 * O(entries). */
const struct cpl_entry *cpl_registry_find(const struct cpl_registry *registry,
                                          const char *name, size_t length,
                                          cpl_entry_filter *takes,
                                          const void *context);

/* Its whole name is a format; NULL with err, which lists those that are. */
const struct cpl_entry *cpl_registry_format(const struct cpl_registry *registry,
                                            const char *name,
                                            struct cpl_error *err);

/* How names are listed. */
enum {
	CPL_NAMES_SHORT = 1, /* "linear (LIN), random-nodes (RDN)" */
	CPL_NAMES_OR = 2,    /* "a, b or c", not "a, b, c" */
};

/* Names of all that are taken into text[size], which it returns, cut where it
 * is full. */
char *cpl_registry_names(const struct cpl_registry *registry, unsigned style,
                         cpl_entry_filter *takes, const void *context,
                         char *text, size_t size);

/* All names into words[capacity], NULL-terminated, for cpl_suggest; how many. */
int cpl_registry_words(const struct cpl_registry *registry, const char **words,
                       int capacity);

/* For messages: " (did you mean NAME?)" of the nearest name, see cpl_suggest,
 * or "", into text[size], which it returns. */
const char *cpl_registry_hint(const struct cpl_registry *registry,
                              const char *name, char *text, size_t size);
