/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "algorithms.h"
#include "cmd.h"
#include "learn/learn.h"
#include "network/reader/reader.h"
#include "placement/placement.h"
#include "routing/routing.h"
#include "signature/import/import.h"
#include "simulate/simulate.h"
#include "site/config.h"

#define WIDTH 80

/* A word between two "@" in a text stands for the list of names of one of
 * these. */
static const struct {
	const char *word;
	const struct cpl_registry *names;
} lists[] = {
        {"mappers", CMD_MAPPERS},      {"binders", CMD_BINDERS},
        {"policies", &cpl_placements}, {"routings", &cpl_routings},
        {"importers", &cpl_importers}, {"readers", &cpl_network_readers},
        {"sim_routings", &cpl_sim_routings}, {"learners", &cpl_learners},
};

const struct cmd_help *cmd_help_find(const char *name)
{
	for (const struct cmd_help *h = cmd_help_texts; h->name; h++)
		if (!strcmp(h->name, name))
			return h;
	return NULL;
}

const struct cmd_help_option *cmd_help_option(const char *subcommand,
                                              const char *option)
{
	const struct cmd_help *help = cmd_help_find(subcommand);

	for (const struct cmd_help_option *o = help ? help->options : NULL;
	     o && o->name; o++)
		if (!strcmp(o->name, option))
			return o;
	return NULL;
}

/* The registry of the word at s, "@" before and after it, or NULL. */
static const struct cpl_registry *list_at(const char *s)
{
	size_t length = strcspn(s + 1, "@\n");

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (s[1 + length] == '@' && strlen(lists[i].word) == length &&
		    !strncmp(s + 1, lists[i].word, length))
			return lists[i].names;
	return NULL;
}

/* Names from a column on; lines go on there. Returns the column after it. */
static int print_list(const struct cpl_registry *names, int column)
{
	const struct cpl_entry *e;
	int at = column;

	for (int i = 0; (e = cpl_registry_at(names, i)); i++) {
		int length = (int)strlen(e->name);

		/* Things for several networks may share a name. */
		if (cpl_registry_find(names, e->name, (size_t)length, NULL,
		                      NULL) != e)
			continue;
		if (e->short_name)
			length += (int)strlen(e->short_name) + 3;
		if (i)
			at += printf(",");
		if (i && at + length + 2 >= WIDTH) {
			printf("\n%*s", column, "");
			at = column;
		} else if (i) {
			at += printf(" ");
		}
		at += printf("%s", e->name);
		if (e->short_name)
			at += printf(" (%s)", e->short_name);
	}
	return at;
}

/* In which lines a key may stand, unless these are lines for all jobs only. */
static const char *key_lines(const struct cpl_config_key *key)
{
	bool general = key->where & 1u << CPL_SCOPE_GENERAL;
	bool partition = key->where & 1u << CPL_SCOPE_PARTITION;
	bool match = key->where & 1u << CPL_SCOPE_MATCH;

	if (!general)
		return "Match lines only";
	if (partition)
		return "; lines too";
	return match ? "; Match lines too" : "";
}

/* The keys of commplace.conf, from the parser's table. */
static void print_keys(void)
{
	struct cmd_table *table = cmd_table_new("ll");
	const struct cpl_config_key *key;

	for (int i = 0; (key = cpl_config_key(i)); i++)
		cmd_table_row(table, "  %s=%s|%s%s", key->name, key->value,
		              key->built_in, key_lines(key));
	cmd_table_print(table);
}

void cmd_help_print(const struct cmd_help *help)
{
	static const char keys[] = "@keys@\n";
	int column = 0;

	for (const char *s = help->text; *s; s++) {
		const struct cpl_registry *names =
		        *s == '@' ? list_at(s) : NULL;

		if (names) {
			column = print_list(names, column);
			s = strchr(s + 1, '@');
		} else if (!strncmp(s, keys, strlen(keys))) {
			print_keys();
			s += strlen(keys) - 1;
		} else {
			putchar(*s);
			column = *s == '\n' ? 0 : column + 1;
		}
	}
}
